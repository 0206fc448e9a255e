/**
 * Which roles are shown gold. What a prompt holds comes from the task that a round admitted, from what roles wrote before, or from elsewhere, and a
 * reference answer comes from elsewhere. So every role that is shown anything from elsewhere must say that it sees gold, or what it is shown that is
 * none (`shown`). What roles write is taken from another round: a right solution that one wrote by chance is that of another task, and cannot stand for
 * a reference.
 */
import { expect, test } from 'vitest';
import { imageText } from '../../core/images/patches.ts';
import type { Completion } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import {
  openEvaluationContext,
  openRoundContext,
  type RoundContext,
} from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { type Moment, momentsOf, openMoment } from './played-plan.ts';
import { chatOf, SAY, sayTask } from './say.ts';

/** A role that is shown what another wrote, where the exact checker called that right. */
const WRITTEN_AND_RIGHT = ['svs/writer'];
/** A role that measures, and reads gold before what others wrote: no completion of it is asked for. */
const MEASURES_WITH_GOLD = ['sweet-rl/critic'];

interface Asked {
  readonly role: string;
  readonly prompt: string;
  readonly written: readonly string[];
}
type Written = ReadonlyMap<string, readonly Completion[]>;

/** A round of a recipe. `written`: what roles write, whatever they are asked; what is not in it the start policy writes. */
async function play(
  recipe: Recipe,
  moment: Moment,
  seed: number,
  variant: string | undefined,
  written: Written = new Map(),
) {
  const order = { seed, tasks: 12, ...(variant === undefined ? {} : { variant }) };
  const { policies, tokenizer, context } = await openMoment(recipe, moment, order);
  const asked: Asked[] = [];
  const measured = new Set<string>();
  const wrote = new Map<string, Completion[]>();
  const measure: RoundContext['measure'] = (role, sequences) => {
    measured.add(role);
    return context.measure(role, sequences);
  };
  let next = 0;
  const generate: RoundContext['generate'] = async (role, prompts, change) => {
    const others = written.get(role);
    const made = others?.length
      ? prompts.map(({ sampleIds }) => sampleIds.map(() => others[next++ % others.length]!))
      : await context.generate(role, prompts, change);
    wrote.set(role, [...(wrote.get(role) ?? []), ...made.flat()]);
    for (const [p, { ids }] of prompts.entries())
      asked.push({
        role,
        prompt: tokenizer.decode(ids),
        written: made[p]!.map((completion) => tokenizer.decode(completion.ids)),
      });
    return made;
  };
  try {
    const { proposals } = await playStages({ ...context, generate, measure });
    return { asked, measured, wrote, tasks: proposals.tasks.map(({ task }) => task) };
  } finally {
    await policies.dispose();
  }
}

/** A text as its words: without what the worlds of compositions and drawings ask for, without tags but those of verdicts, without marks between lines and without the letter of an answer to compare. */
const wordsOf = (text: string): string =>
  text
    .replaceAll(/\b(?:Write a task|What is|Check|Draw)\b/g, ' ')
    .replaceAll(/<(right|wrong)>/g, ' $1 ')
    .replaceAll(/<\w+>/g, ' ')
    .replaceAll(/[=;:?!,]|\.(?=\s|$)/g, ' ')
    .replaceAll(/(?<=\d)[AB]\b/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Whether a field of a prompt is what somebody wrote: all of it, its beginning or its end, or all but its last word. */
const isFrom = (field: string, written: string): boolean =>
  written === field ||
  written.startsWith(`${field} `) ||
  written.endsWith(` ${field}`) ||
  written.slice(0, written.lastIndexOf(' ')) === field;

/** The prompts that hold something from elsewhere, by role. */
function fromElsewhere({ asked, tasks }: Pick<Awaited<ReturnType<typeof play>>, 'asked' | 'tasks'>) {
  const found = new Map<string, string[]>();
  const admitted = tasks.map(wordsOf);
  const before: string[] = [];
  const isKnown = (field: string) => {
    const words = wordsOf(field);
    // A task may be cut short, as a text to go on with is; a number is not the beginning of one.
    return (
      admitted.some((task) => task.startsWith(words) && 5 * words.length >= 2 * task.length) ||
      before.some((text) => isFrom(words, text))
    );
  };
  for (const { role, prompt, written } of asked) {
    const fields = prompt.split('<sep>').filter((field) => wordsOf(field));
    const known = fields.every(
      (field) => isKnown(field) || (field.includes(':') && field.split(':').every(isKnown)),
    );
    before.push(...written.map(wordsOf));
    // What goes on with a text is shown together with it.
    if (known)
      for (const between of ['', ' '])
        before.push(...written.map((text) => wordsOf((fields.at(-1) ?? '') + between + text)));
    else found.set(role, [...(found.get(role) ?? []), prompt]);
  }
  return found;
}

/** The roles that an evaluation of the start policy asks. */
async function examinedBy(recipe: Recipe): Promise<Set<string>> {
  const { policies, tokenizer, round } = await openMoment(recipe, { index: 1 }, { seed: 3, tasks: 2 });
  const examined = new Set<string>();
  const parts = {
    ...{ recipe, round, tokenizer, recipeState: () => Promise.resolve(undefined) },
    evaluationTasks: { heldOut: true, most: 2 },
    use: ((ref, work, role) => {
      if (role !== undefined) examined.add(role);
      return policies.use(ref, work, role);
    }) satisfies typeof policies.use,
  };
  try {
    await recipe.evaluate(openEvaluationContext(parts, 0, new Map()));
    return examined;
  } finally {
    await policies.dispose();
  }
}

/** What a recipe shows from elsewhere in any of its phases, and the roles that it neither asks nor measures. */
async function shownBy(recipe: Recipe) {
  const silent = new Set(Object.keys(recipe.roles));
  const found = new Map<string, string[]>();
  const note = async (moment: Moment, variant?: string) => {
    const first = await play(recipe, moment, 3, variant);
    for (const played of [first, await play(recipe, moment, 4, variant, first.wrote)]) {
      for (const role of [...played.asked.map((asked) => asked.role), ...played.measured])
        silent.delete(role);
      for (const [role, prompts] of fromElsewhere(played))
        found.set(role, [...(found.get(role) ?? []), ...prompts]);
    }
  };
  for (const moment of momentsOf(recipe)) await note(moment);
  // The next round or a variant may ask whom the first round of the recipe as published does not.
  if (silent.size) await note({ index: 2 });
  for (const variant of Object.keys(recipe.variants ?? {}))
    if (silent.size) await note({ index: 1 }, variant);
  return { silent, found };
}

const withGold = ({ roles }: Recipe): string[] => Object.keys(roles).filter((role) => roles[role]!.seesGold);

test.each(recipes)('$name says which of its roles see gold', async (recipe) => {
  const { name, roles } = recipe;
  const { silent, found } = await shownBy(recipe);
  const listed = Object.keys(roles).filter((role) => roles[role]!.shown);
  const expected = [...listed, ...withGold(recipe)].filter(
    (role) => ![...WRITTEN_AND_RIGHT, ...MEASURES_WITH_GOLD].includes(`${name}/${role}`),
  );
  const examples = Object.fromEntries([...found].map(([role, prompts]) => [role, prompts.slice(0, 3)]));
  expect([...found.keys()].sort(), JSON.stringify(examples)).toEqual(expected.sort());
  for (const role of listed) expect(roles[role]!.seesGold).toBeUndefined();
  // Nothing is known of a role that no stage asks: it has to be one of evaluations alone.
  const examined = silent.size ? await examinedBy(recipe) : new Set();
  expect([...silent].filter((role) => !examined.has(role))).toEqual([]);
});

test.each(['dapo', 'trio'])('a solver of %s that is shown the answer alone is found', async (name) => {
  const recipe = shipped.find(name);
  const { silent, found } = await shownBy({
    ...recipe,
    rollOut: (context, tasks) =>
      recipe.rollOut(
        {
          ...context,
          generate: (role, prompts, change) =>
            context.generate(
              role,
              prompts.map((prompt, p) => {
                const { answer } = referenceSolution(tasks[p]!.task);
                return { ...prompt, ids: [...prompt.ids, ...context.tokenizer.encode(`${answer}<sep>`)] };
              }),
              change,
            ),
        },
        tasks,
      ),
  });
  expect([...silent]).not.toContain(SOLVER);
  expect([...found.keys()]).toEqual([SOLVER]);
});

/** An answer that no role writes: a prompt that holds it has it from the file of tasks. */
const PLANTED = 'heliotrope';
const chat = chatOf(1024, { vision: { patch_size: 8, rows: 4, columns: 4, token_id: 0 } });

/** A round on questions with a planted answer: the roles whose prompts hold it. `says`: what is written, whoever is asked. */
async function shownPlanted(recipe: Recipe, says: readonly string[]) {
  const order = { recipe: recipe.name, seed: 0, rounds: 1, freeze: [], policy: 'p', tasks: 2, groupSize: 4 };
  const { settings } = runOf(registry([recipe]), order);
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const asked = new Set<string>();
  const shown = new Set<string>();
  let next = 0;
  const write = (): Completion => {
    const ids = chat.tokenizer.encode(`${says[next++ % says.length]!}<|im_end|>`);
    return { ids, logprobs: ids.map(() => -1), stopped: true };
  };
  const context = openRoundContext({
    recipe,
    round,
    ...chat,
    recipeState: () => Promise.resolve(undefined),
    use: (ref, work, role) =>
      work({
        ref,
        generate: async (prompts) =>
          prompts.map(({ ids, sampleIds }) => {
            asked.add(role);
            if (chat.tokenizer.decode([...ids]).includes(PLANTED)) shown.add(role);
            return sampleIds.map(write);
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        measure: async (sequences) =>
          sequences.map(({ ids }) => ({ logProbabilities: ids.map(() => -1), entropies: ids.map(() => 0) })),
        dispose: () => Promise.resolve(),
      }),
  });
  await playStages(context);
  return { asked, shown };
}

const PICTURES = [1, 2, 3]
  .map((shade) => imageText({ width: 24, height: 24, pixels: new Uint8Array(3 * 24 * 24).fill(shade) }))
  .join('');
const SOURCES = [
  {
    weight: 1,
    tasks: [1, 2].map((line) => ({
      ...sayTask(`${PICTURES}Say word ${line}`, PLANTED, line),
      solution: `It says ${PLANTED}.\n<answer>${PLANTED}</answer>`,
      metadata: { documents: ['It says a word.'], hoped: 'nothing' },
    })),
  },
];
const onFiles = (recipe: string, more: object = {}) =>
  recipeFrom({ from: recipe, data: { ...SAY, sources: SOURCES, ...more } });

/** Roles that are told no more than whether an answer is right. */
const TOLD_WHETHER_RIGHT = [
  'sd-zero/reviser',
  'svs/writer',
  'rlver/assistant',
  'sweet-rl/assistant',
  'fate/repairer',
];

test.each(recipes.flatMap(({ name, written }) => (written ? [name] : [])))(
  'on questions of files %s says which roles are shown answers',
  async (name) => {
    const recipe = onFiles(name);
    const says = ['Say four', '<answer>yes</answer>', '<answer>7</answer>', '<answer>red</answer>'];
    const { asked, shown } = await shownPlanted(recipe, says);
    expect(asked.size).toBeGreaterThan(0);
    const named = withGold(recipe).filter(
      (role) => ![...TOLD_WHETHER_RIGHT, ...MEASURES_WITH_GOLD].includes(`${name}/${role}`),
    );
    expect([...shown].sort()).toEqual(named.sort());
  },
);

test('a judge is shown them by a rubric that names the reference, and no other judge is', async () => {
  const judge = (name: string, content: string) => ({
    ...{ name, weight: 1 },
    from: {
      policy: { name: 'p', version: 0 },
      rubric: { messages: [{ role: 'user', content }], grade: { from: 0, to: 1 }, maxNew: 8, temperature: 0 },
    },
  });
  const rewards = [judge('blind', 'Rate {{response}}'), judge('told', 'Is {{response}} {{reference}}?')];
  const recipe = onFiles('dapo', { rewards });
  const { asked, shown } = await shownPlanted(recipe, ['<answer>red</answer>']);
  expect([...asked].sort()).toEqual(['judge-blind', 'judge-told', 'solver']);
  expect([...shown]).toEqual(['judge-told']);
  expect(withGold(recipe)).toEqual(['judge-told']);
});
