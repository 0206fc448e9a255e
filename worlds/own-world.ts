/**
 * A world of somebody's own: what it asks and how it reads what comes back, in plain functions. Every recipe plays in it whose verbs it says and whose
 * data it has (`npx rollmesh recipe list --for ./world.ts`). It asks in messages, so that any policy with a chat template can be asked.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import type { Game, Speaker, Wording, Wordings } from '../core/game/game.ts';
import {
  type AboutOf,
  aboutTexts,
  DATA,
  type Datum,
  SAYS,
  type SaysOf,
  type Verb,
} from '../core/game/verbs.ts';
import type { Grid } from '../core/images/patches.ts';
import { Random } from '../core/random.ts';
import { played, type Recipe, saidElsewhere } from '../core/recipe/recipe.ts';
import { HELD_OUT, isHeldOutKey } from '../core/recipe/split.ts';
import { invalid, type ParseResult, type Solution, type TaskFamily } from '../core/recipe/task-family.ts';
import type { Message } from '../core/renderer/message.ts';
import { refuseRepeated } from '../core/round/admit.ts';
import { OUTCOMES } from '../core/schema/outcome.ts';
import { name } from '../core/schema/sample.ts';
import { nearest } from '../core/text/nearest.ts';
import { familyTasks } from './drawn-tasks.ts';
import { messageFamily, saidInMessages } from './message-family.ts';
import { STARTS } from './starts.ts';

/** How a world says a verb. */
export interface Spoken<V extends Verb> {
  /** Longest text that comes back, in tokens, its end included. */
  readonly maxNew: number;
  /** A message of the user, or a conversation. */
  readonly ask: (about: AboutOf<V>) => string | readonly Message[];
  /** Parses what comes back, without the token that ended it: `ok(value)`, or `invalid(reason)` for any text that does not say it. */
  readonly read: (text: string, about: AboutOf<V>) => ParseResult<SaysOf<V>>;
}

export interface World {
  readonly name: string;
  /** The shipped policy that runs begin from where no --policy is named. Default `words`, which is asked in messages. */
  readonly start?: string;
  /** Draws a task, as text: the same one from the same state of `random`. A tenth of all tasks is held out, by their text. */
  readonly draw: (random: Random) => string;
  /** The oracle: is this the answer to the task? */
  readonly isRight: (task: string, answer: string) => boolean;
  /** The worked solution of a task, its last step the answer. A world that has it offers `solution`, and `steps` where it has several. */
  readonly reference?: (task: string) => Solution;
  /** What a task asks, for a reader; default its text. */
  readonly question?: (task: string) => string;
  readonly words: { readonly solve: Spoken<'solve'> } & { readonly [V in Verb]?: Spoken<V> };
}

/** A shipped policy that can be asked in messages. */
const DEFAULT_START = 'words';
/** As many held-out tasks are evaluated, where the world has them. */
const EVALUATED = 100;
/** After so many draws no further held-out task is looked for. */
const HELD_OUT_DRAWS = 20_000;
/** As many tasks are drawn to try a world. */
const TRIED = 8;
/** What a policy may write: nothing, too much, another language, half a format. */
const TEXTS = [
  '',
  ' ',
  '7',
  'yes',
  'A',
  '<answer>7</answer>',
  '[1, "2',
  '{"a":',
  '9'.repeat(400),
  'ж\n\u0000\n',
];

const work = v.function('a function');
const spoken = v.strictObject({
  maxNew: v.pipe(v.number('a number of tokens'), v.safeInteger(), v.minValue(1)),
  ask: work,
  read: work,
});
const shape = v.strictObject({
  name,
  start: v.optional(name),
  draw: work,
  isRight: work,
  reference: v.optional(work),
  question: v.optional(work),
  words: v.record(v.string(), spoken),
});
const prompt = v.union([
  v.pipe(v.string(), v.trim(), v.minLength(1)),
  v.pipe(v.array(v.looseObject({ role: v.string(), content: v.string() })), v.minLength(1)),
]);
const reason = v.custom<keyof typeof OUTCOMES>(
  (value) => typeof value === 'string' && Object.hasOwn(OUTCOMES, value),
);

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);
const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The error about what a world does when it is called. */
const failed = (code: 'ask' | 'read' | 'task', what: string, expected: string) =>
  new RollmeshError('wrong-input', `world.${code}`, what, { expected, next: 'Correct the world’s module.' });

/** What a world is asked, as messages. Throws `world.ask` where it throws or returns no prompt. */
function conversation<V extends Verb>(verb: V, { ask }: Spoken<V>, about: AboutOf<V>): readonly Message[] {
  let asked: unknown;
  try {
    asked = ask(about);
  } catch (error) {
    throw failed(
      'ask',
      `words.${verb}.ask throws about ${shown(about)}: ${why(error)}.`,
      'a prompt for every task',
    );
  }
  if (!v.is(prompt, asked))
    throw failed(
      'ask',
      `words.${verb}.ask returns ${shown(asked)} about ${shown(about)}.`,
      'a text that is not empty, or messages',
    );
  return typeof asked === 'string' ? [{ role: 'user', content: asked }] : (asked as readonly Message[]);
}

/** What a text says. Throws `world.read` where the world throws, or returns what the verb does not say. */
function reading<V extends Verb>(
  verb: V,
  { read }: Spoken<V>,
  text: string,
  about: AboutOf<V>,
): ParseResult<SaysOf<V>> {
  const wrong = (what: string, expected: string) =>
    failed('read', `words.${verb}.read ${what} for the text ${shown(text)}.`, expected);
  let said: ParseResult<SaysOf<V>>;
  try {
    said = read(text, about);
  } catch (error) {
    throw wrong(`throws ${shown(why(error))}`, 'invalid(reason) for a text that does not say it');
  }
  if (said?.ok === false && v.is(reason, said.reason)) return said;
  const parsed = said?.ok === true ? v.safeParse(SAYS[verb], said.value) : undefined;
  if (!parsed?.success)
    throw wrong(
      `returns ${shown(said)}`,
      `ok(${parsed?.issues?.[0].message ?? 'value'}), or invalid(reason) with a reason of core/schema/outcome.ts`,
    );
  if (verb === 'verify') {
    const { steps } = (about as AboutOf<'verify'>).solution;
    if ((said as ParseResult<SaysOf<'verify'>> & { ok: true }).value.steps.length !== steps.length)
      throw wrong(`returns ${shown(said)}`, `a verdict for each of the ${steps.length} steps`);
  }
  return said;
}

/** The words of a world for a policy. A task that asks nothing is an empty message. */
const inMessages = <V extends Verb>(verb: V, spoken: Spoken<V>): Wording<V> => ({
  maxNew: spoken.maxNew,
  ask: (about, speaker: Speaker) => {
    const isBlank = 'task' in about && about.task === '';
    const messages = isBlank ? [{ role: 'user', content: '' } as const] : conversation(verb, spoken, about);
    return speaker.renderer().begin(messages).text;
  },
  read: (text, about, speaker: Speaker) => {
    const renderer = speaker.renderer();
    const said = reading(verb, spoken, renderer.readText(text).text, about);
    // Others may be shown it, so nothing in it may look like the border of a message.
    return said.ok && renderer.holdsControl(JSON.stringify(said.value)) ? invalid('off-grammar') : said;
  },
});

const verbsOf = ({ words }: World): Verb[] => Object.keys(words) as Verb[];

/** Distinct tasks of one side of the split, in the order drawn, at most `EVALUATED`; each side is drawn once. */
function sides({ name, draw }: World, isHeldOut: (task: string) => boolean): TaskFamily['heldOut'] {
  const drawn = new Map<boolean, readonly string[]>();
  const side = (heldOut: boolean): readonly string[] => {
    const found = new Set<string>();
    const random = new Random(`${name}/held-out`);
    for (let i = 0; i < HELD_OUT_DRAWS && found.size < EVALUATED; i++) {
      const task = draw(random);
      if (isHeldOut(task) === heldOut) found.add(task);
    }
    if (found.size) return [...found];
    throw failed(
      'task',
      `None of ${HELD_OUT_DRAWS} drawn tasks is ${heldOut ? '' : 'not '}held out.`,
      'tasks that differ: a tenth of them is held out, by their text',
    );
  };
  return ({ heldOut, most } = HELD_OUT) => {
    const tasks = drawn.get(heldOut) ?? side(heldOut);
    drawn.set(heldOut, tasks);
    return tasks.slice(0, most);
  };
}

/** What the data of a world have beside its tasks. */
function dataOf(world: World): Datum[] {
  const { reference, draw } = world;
  const known: Datum[] = ['answer', 'generator'];
  if (!reference) return known;
  const several = triedTasks(world.name, draw).every((task) => reference(task).steps.length > 1);
  return [...known, 'solution', ...(several ? (['steps'] as const) : [])];
}

/** The world as a game for recipes. */
function worldGame(world: World): Game {
  const { name, draw, isRight, reference, question = (task) => task } = world;
  const words = Object.fromEntries(
    verbsOf(world).map((verb) => [verb, inMessages(verb, world.words[verb] as Spoken<Verb>)]),
  ) as unknown as Wordings<Verb>;
  const isHeldOut = (task: string): boolean => isHeldOutKey(name, task);
  const family = messageFamily(
    {
      name,
      random: draw,
      isHeldOut,
      heldOut: sides(world, isHeldOut),
      difficulty: () => 0,
      answerIsExact: (task, { answer }) => isRight(task, answer),
    },
    words.solve.maxNew,
    words,
  );
  return {
    family,
    words,
    also: words,
    data: dataOf(world),
    tasks: familyTasks(family),
    byExample: true,
    gate: () => ({ isHeldOut, refuse: refuseRepeated() }),
    tests: (asked) => family.heldOut(asked),
    blank: '',
    ...(reference && { reference }),
    question,
    write: ({ steps }) => steps.join('\n'),
    reasoning: { lines: ({ steps }) => steps, write: (lines) => lines.join('\n') },
    said: saidInMessages,
  };
}

const triedTasks = (name: string, draw: World['draw']): string[] => {
  const random = new Random(`${name}/tried`);
  return Array.from({ length: TRIED }, () => draw(random));
};

/** What a function of a world returns. Throws `world.task` where it throws. */
function returned<T>(called: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw failed('task', `${called} throws: ${why(error)}.`, 'a value for every task and every text');
  }
}

/** Tries a world: its tasks, its oracle, and every verb on each kind of text. */
function tryWorld({ name, draw, isRight, reference, words }: World): void {
  const [tasks, again] = returned('draw', () => [triedTasks(name, draw), triedTasks(name, draw)]);
  for (const [i, task] of tasks.entries()) {
    if (typeof task !== 'string' || task === '')
      throw failed('task', `draw returns ${shown(task)}.`, 'a text that is not empty');
    if (task !== again[i])
      throw failed(
        'task',
        `draw returns ${shown(task)}, then ${shown(again[i])} from the same state of random.`,
        'no other source of chance than `random`',
      );
    for (const text of TEXTS) {
      const verdict = returned(`isRight(${shown(task)}, ${shown(text)})`, () => isRight(task, text));
      if (typeof verdict !== 'boolean')
        throw failed(
          'task',
          `isRight returns ${shown(verdict)} for ${shown(task)} and ${shown(text)}.`,
          'true or false',
        );
    }
    const solution = returned(`reference(${shown(task)})`, () => reference?.(task));
    if (solution && !(v.is(SAYS.solve, solution) && isRight(task, solution.answer)))
      throw failed(
        'task',
        `reference returns ${shown(solution)} for ${shown(task)}.`,
        'steps, and an answer that isRight calls right',
      );
    for (const verb of Object.keys(words) as Verb[]) {
      const spoken = words[verb] as Spoken<Verb>;
      const about = aboutTexts(verb, task, solution?.steps.join('\n') ?? '7');
      conversation(verb, spoken, about);
      for (const text of TEXTS) reading(verb, spoken, text, about);
    }
  }
}

/**
 * Returns the world itself, checked and tried. Throws `wrong-input`: `world.invalid` for a field or a verb that is missing, unknown or of another kind;
 * `world.task`, `world.ask` and `world.read` where one of its functions throws or returns what it may not.
 */
export function defineWorld(world: World): World {
  const parsed = v.safeParse(shape, world);
  const next = 'Correct the world’s module; `npx rollmesh init FOLDER --world` writes one to begin with.';
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw wrongInput('world.invalid', `A world’s ${v.getDotPath(issue) ?? 'value'} is ${issue.received}.`, {
      expected: issue.expected === null ? issue.message : issue.expected,
      next,
    });
  }
  const verbs = Object.keys(SAYS);
  const unknown = Object.keys(world.words).find((verb) => !verbs.includes(verb));
  if (unknown !== undefined)
    throw wrongInput('world.invalid', `A world cannot say ${JSON.stringify(unknown)}.`, {
      expected: `${nearest(unknown, verbs) === undefined ? '' : `${nearest(unknown, verbs)}, perhaps, or `}one of ${verbs.join(', ')}`,
      next,
    });
  if (!Object.hasOwn(world.words, 'solve'))
    throw wrongInput('world.invalid', 'A world’s words leave out "solve".', {
      expected: 'every world to say solve',
      next,
    });
  tryWorld(world);
  return world;
}

/** A world in which recipes play. */
export interface Place {
  readonly name: string;
  /** The shipped policy that runs begin from. */
  readonly start: string;
  /** A verb that it does not say is left out of its words. */
  readonly game: Game;
  /** How it asks, and what it shows. */
  readonly asks: string;
  /** The most rows and columns of patches of the images that its prompts show; absent = they show none. */
  readonly showsImages?: Grid;
}

const placeOf = (world: World): Place => ({
  name: world.name,
  start: world.start ?? DEFAULT_START,
  game: worldGame(world),
  asks: 'asks in messages',
});

/** What a recipe needs and the place has not, in words; null where the recipe plays in its own world alone. */
export function lackedAt(
  { written }: Pick<Recipe, 'written'>,
  { game }: Pick<Place, 'game'>,
): string[] | null {
  if (!written) return null;
  const { verbs, orRule = [], data } = written.needs;
  const unsaid = [...verbs, ...orRule].filter((verb) => !game.words[verb]);
  return [
    ...(unsaid.length ? [`the verb${unsaid.length > 1 ? 's' : ''} ${unsaid.join(', ')}`] : []),
    ...data.filter((datum) => !game.data.includes(datum)).map((datum) => DATA[datum]),
  ];
}

export const lackedIn = (recipe: Pick<Recipe, 'written'>, world: World): string[] | null =>
  lackedAt(recipe, placeOf(world));

/** A recipe in a world of somebody's own; throws as `playedAt`. */
export const inWorld = (recipe: Recipe, world: World): Recipe => playedAt(recipe, placeOf(world));

/**
 * A recipe in another world, under the name RECIPE-in-WORLD. Throws `wrong-input`: `world.own` where the recipe plays in its own world alone,
 * `world.lacks` where this one leaves out a verb or has not what the recipe needs of the data.
 */
export function playedAt(recipe: Recipe, place: Place): Recipe {
  const { written, tasks, groupSize } = recipe;
  const { name, start, game, asks, showsImages } = place;
  const list = 'Run `npx rollmesh recipe list --for WORLD` with the world for the recipes that play there.';
  const lacked = lackedAt(recipe, place);
  if (!written || !lacked)
    throw wrongInput('world.own', `Recipe ${recipe.name} plays in its own world alone.`, {
      expected: 'a recipe that is written over any game',
      next: list,
    });
  if (lacked.length)
    throw wrongInput(
      'world.lacks',
      `Recipe ${recipe.name} needs ${lacked.join(' and ')}, and the world ${name} has none.`,
      {
        expected: 'a world that says every verb of the recipe and has its data',
        next: list,
      },
    );
  const made = saidElsewhere(
    { ...played(written, game), startPolicy: start, tasks, groupSize },
    written.elsewhere,
  );
  return {
    ...made,
    name: `${recipe.name}-in-${name}`,
    called: `${recipe.name} in ${name}`,
    ...(showsImages ? { showsImages } : {}),
    // Whoever names the start of a world has words for it.
    writtenAs: STARTS[start]?.families[0] ?? name,
    describe: { ...made.describe, title: (task) => [{ kind: 'text', text: game.question(task) }] },
    ...(made.method && {
      method: {
        ...made.method,
        setting: `Tasks come from the world ${name}, which ${asks} and says what is right.`,
      },
    }),
  };
}
