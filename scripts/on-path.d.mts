/** The file that a program's name stands for, or nothing. Looks at the file system only. */
export function findOnPath(name: string): string | undefined;
