/**
 * How the user calls a command: in a clone of the repository by its npm scripts, elsewhere by the installed program. Messages name the
 * npm scripts; the functions here translate them to the user's form where they are shown.
 */
import { BUILT } from '../mesh/installation.ts';

/** What stands before a command's own arguments in its usage line. */
export const calledAs = (command: string): string => {
  if (BUILT) return `rollmesh ${command}`;
  return command === 'start' ? 'npm start --' : `npm run ${command} --`;
};

/** Replaces every `npm start …` and `npm run COMMAND -- …` in a text by the installed program's form. */
export const asCalled = (text: string, built = BUILT): string =>
  built
    ? text.replace(
        /\bnpm (?:run )?(start|stop|trigger|policy|recipe|audit|verify|doctor|claims|deploy|pretrain|learner|soak|dead-letters)\b(?: --(?=[ `]|$))?/g,
        'npx rollmesh $1',
      )
    : text;
