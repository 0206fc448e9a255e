/**
 * How the user calls a command: in a clone of the repository by its npm scripts, elsewhere by the installed program. Messages name the
 * npm scripts; the functions here translate them to the user's form where they are shown.
 */
import { BUILT } from '../local/mesh/installation.ts';

/** The commands that have an npm script of their own. */
export const SCRIPTS: readonly string[] = [
  ...['start', 'stop', 'trigger', 'policy', 'recipe', 'audit', 'verify', 'doctor', 'deploy'],
  ...['pretrain', 'learner', 'dead-letters', 'runs', 'sweep', 'chat', 'curves', 'trajectories'],
];

/** What stands before a command's own arguments in its usage line. */
export const calledAs = (command: string, built = BUILT): string => {
  if (built) return `rollmesh ${command}`;
  if (command === 'start') return 'npm start --';
  return SCRIPTS.includes(command.split(' ')[0]!)
    ? `npm run ${command} --`
    : `npm run rollmesh -- ${command}`;
};

const SCRIPT = new RegExp(`\\bnpm (?:run )?(${SCRIPTS.join('|')})\\b(?: --(?=[ \`]|$))?`, 'g');

/** Replaces every `npm start …`, `npm run COMMAND -- …` and `npm run rollmesh -- COMMAND …` in a text by the installed program's form. */
export const asCalled = (text: string, built = BUILT): string =>
  built ? text.replaceAll('npm run rollmesh -- ', 'npx rollmesh ').replace(SCRIPT, 'npx rollmesh $1') : text;
