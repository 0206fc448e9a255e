/**
 * How the user calls a command: in a clone of the repository by its npm scripts, elsewhere by the installed program. Messages name the
 * npm scripts; this puts them into the user's terms where they are shown.
 */
import { BUILT } from '../mesh/installation.ts';

/** The program's name before a command's own arguments, for its usage line. */
export const calledAs = (command: string): string => {
  if (BUILT) return `rollmesh ${command}`;
  return command === 'start' ? 'npm start --' : `npm run ${command} --`;
};

/** The text with every `npm start …` and `npm run COMMAND -- …` as the installed program is called. */
export const asCalled = (text: string, built = BUILT): string =>
  built
    ? text.replace(
        /\bnpm (?:run )?(start|stop|trigger|policy|recipe|audit|claims|deploy|pretrain|learner|soak|dead-letters)\b(?: --(?=[ `]|$))?/g,
        'npx rollmesh $1',
      )
    : text;
