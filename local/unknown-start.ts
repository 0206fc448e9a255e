/** What to do about a start policy that is nowhere: loaded only then, since it needs the demonstrations of every warm start. */
import { type RollmeshError, wrongInput } from '../core/errors.ts';
import { withImages } from '../core/images/image-tokenizer.ts';
import { Random } from '../core/random.ts';
import { characterTokenizer } from '../core/text/characters.ts';
import { openTokenizer } from '../core/text/tokenizer.ts';
import { WARM_START } from '../learner/train/warm-start.ts';
import { parameterCount } from '../model/checkpoint.ts';
import { SHAPES } from '../model/shapes.ts';
import type { Demonstration } from '../worlds/demonstration.ts';
import { type WarmStart, warmStarts } from '../worlds/warm-starts.ts';

/** Tokens that a core of a laptop trains in a second, of the shape `nano`; a model of n times as many weights takes about the cube root of n as long. */
const TOKENS_A_SECOND = 12_000;
const NANO_PARAMETERS = 190_000;
/** Demonstrations that are drawn to tell how long they are. */
const DRAWN = 50;

/** About how many minutes `npx rollmesh pretrain` takes for a warm start on one core, without those that it goes on from. */
function minutesOf(name: string, start: WarmStart): number {
  const { json, vocabSize } = (start.tokenizer ?? characterTokenizer)();
  const tokenizer = withImages(openTokenizer(json), start.patchToken !== undefined);
  const random = new Random(`minutes/${name}`);
  const tokensOf = (shown: readonly Demonstration[]) =>
    shown.reduce((sum, { prompt, completion }) => sum + tokenizer.encode(prompt + completion).length, 0);
  const { steps = WARM_START.steps, batch = WARM_START.batch } = start;
  const drawn = Array.from({ length: DRAWN }, () => start.demonstrate(random));
  const tokens =
    start.stages?.reduce((sum, stage) => sum + stage.steps * tokensOf(stage.demonstrate(random, {})), 0) ??
    (steps * batch * tokensOf(drawn)) / DRAWN;
  const parameters = parameterCount(SHAPES[start.shape ?? 'nano'](vocabSize, 0));
  return (tokens * Math.cbrt(parameters / NANO_PARAMETERS)) / TOKENS_A_SECOND / 60;
}

/** What was looked for where. */
interface Sought {
  /** The folder of the user's own starts. */
  readonly own: string;
  /** Is it one of the package `rollmesh-starts`? */
  readonly isPackaged: boolean;
  /** Is there a start of that name? */
  readonly has: (name: string) => boolean;
}

/** The warm starts that have to be made for one, in their order: those that it goes on from and that are nowhere, and itself. */
function toMake(name: string, has: Sought['has']): string[] {
  const from = warmStarts[name]!.from;
  return [...(from === undefined || has(from) ? [] : toMake(from, has)), name];
}

/** The error `start.unknown`: says which commands make the start and about how long they take, where there are such commands. */
export function unknownStart(name: string, { own, isPackaged, has }: Sought): RollmeshError {
  const what = `There is no start policy ${JSON.stringify(name)}.`;
  if (!Object.hasOwn(warmStarts, name))
    return wrongInput('start.unknown', what, {
      expected: `the folder ${own}/${name}, or one of: ${Object.keys(warmStarts).join(', ')}`,
      next: 'Correct the field `startPolicy` of the recipe, or `start` of the world or game, or copy the policy into that folder.',
    });
  const made = toMake(name, has);
  const minutes = made.reduce((sum, each) => sum + minutesOf(each, warmStarts[each]!), 0);
  const packaged = isPackaged
    ? 'Install the package rollmesh-starts beside rollmesh, or make it: '
    : 'Make it: ';
  return wrongInput('start.unknown', what, {
    expected: `it in ${own}, in the package rollmesh-starts, or where ROLLMESH_STARTS points`,
    next: `${packaged}\`${made.map((each) => `npx rollmesh pretrain --name ${each}`).join(' && ')}\` takes about ${Math.max(1, Math.round(minutes))} minutes on one core.`,
  });
}
