/** How the user calls a command, in a clone of the repository and in a project alike: what stands before its own arguments in its usage line. */
export const calledAs = (command: string): string => `npx rollmesh ${command}`;
