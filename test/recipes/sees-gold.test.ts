/**
 * Which roles are shown gold. What a prompt holds comes from the task that a round admitted, from what roles wrote before, or from elsewhere, and a
 * reference answer comes from elsewhere. So every role that is shown anything from elsewhere must say that it sees gold, or be in the list below with
 * what that is. What roles write is taken from another round: a right solution that one wrote by chance is that of another task, and cannot stand for
 * a reference.
 */
import { expect, test } from 'vitest';
import type { Completion } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { QUESTION_RECIPES, questionRecipeFrom } from '../../recipes/on-questions.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { type Moment, momentsOf, openMoment } from './played-plan.ts';
import { chatOf, SAY, sayTask } from './say.ts';

/** What roles are shown that comes from elsewhere and answers nothing that is asked of others. */
const FROM_ELSEWHERE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  azr: { solver: 'a program with its input or its output, of a task that holds both' },
  cleaner: { searcher: 'what its searches find' },
  'co-reward': { solver: 'its task in another order' },
  cosplay: { tester: 'what the program should do, in words' },
  evoenv: {
    proposer: 'an environment',
    solver: 'an instance of an environment',
    reviewer: 'the environment that it is asked about',
  },
  epo: {
    strategist: 'the state of the negotiation',
    adviser: 'the state of the negotiation',
    actor: 'the state of the negotiation',
    partner: 'the state of the negotiation',
  },
  jaxmarl: { 'agent-1': 'the board', 'agent-2': 'the board' },
  'mars-games': {
    first: 'its view of the game',
    second: 'its view of the game',
    guide: 'the card that is meant, which it is to tell',
    guesser: 'three cards',
  },
  mae: { proposer: 'a question as an example' },
  'pi-play': { searcher: 'what its searches find' },
  'q-evolve': { agent: 'the board' },
  ragen: { agent: 'the board' },
  rewardharness: { judge: 'responses of the data, each without its label' },
  reseek: { searcher: 'what its searches find' },
  siop: { searcher: 'what its searches find' },
  'mars-research': { reader: 'what searches find', searcher: 'what the reader writes of it' },
  'self-taught-evaluators': { writer: 'its task, changed' },
  spiral: {
    first: 'its view of the game',
    second: 'its view of the game',
    opponent: 'its view of the game',
  },
  'ssr-swe': { solver: 'a program with a bug, and tests' },
  ssp: { solver: 'what its searches find' },
  stp: { conjecturer: 'rules of rewriting' },
};
/** A role that is shown what another wrote, where the exact checker called that right. */
const WRITTEN_AND_RIGHT = ['svs/writer'];
/** A role that measures, and reads gold before what others wrote: no completion of it is asked for. */
const MEASURES_WITH_GOLD = ['sweet-rl/critic'];
/** Roles that write nothing in a stage of a round: they act in evaluations, measure, or are scored by the learner. */
const NOT_ASKED = [
  'alphallm/value',
  'alphallm/critic',
  'aprm/solver',
  'cpl/value',
  'genrm/verifier',
  'rest-mcts/value',
  'siop/scorer',
  'spin/player',
  'sweet-rl/critic',
  'sweet-rl/base',
];
/** Variants that ask roles which are not asked without them. */
const VARIANT: Readonly<Record<string, string>> = {
  epo: 'self-play',
  marti: 'chain',
  spiral: 'fixed-opponent',
};

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
  const wrote = new Map<string, Completion[]>();
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
    const { proposals } = await playStages({ ...context, generate });
    return { asked, wrote, tasks: proposals.tasks.map(({ task }) => task) };
  } finally {
    await policies.dispose();
  }
}

/** A text as its words: without what the world of compositions asks for, without tags but those of verdicts, without marks between lines and without the letter of an answer to compare. */
const wordsOf = (text: string): string =>
  text
    .replaceAll(/\b(?:Write a task|What is|Check)\b/g, ' ')
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

/** What a recipe shows from elsewhere in any of its phases, and whom it asks at all. */
async function shownBy(recipe: Recipe) {
  const asked = new Set<string>();
  const found = new Map<string, string[]>();
  const variants = [undefined, ...(VARIANT[recipe.name] ? [VARIANT[recipe.name]] : [])];
  for (const moment of momentsOf(recipe))
    for (const variant of variants) {
      const first = await play(recipe, moment, 3, variant);
      for (const played of [first, await play(recipe, moment, 4, variant, first.wrote)]) {
        for (const { role } of played.asked) asked.add(role);
        for (const [role, prompts] of fromElsewhere(played))
          found.set(role, [...(found.get(role) ?? []), ...prompts]);
      }
    }
  return { asked, found };
}

const withGold = ({ roles }: Recipe): string[] => Object.keys(roles).filter((role) => roles[role]!.seesGold);

test.each(recipes)('$name says which of its roles see gold', async (recipe) => {
  const { name, roles } = recipe;
  const { asked, found } = await shownBy(recipe);
  const listed = Object.keys(FROM_ELSEWHERE[name] ?? {});
  const expected = [...listed, ...withGold(recipe)].filter(
    (role) => ![...WRITTEN_AND_RIGHT, ...MEASURES_WITH_GOLD].includes(`${name}/${role}`),
  );
  const examples = Object.fromEntries([...found].map(([role, prompts]) => [role, prompts.slice(0, 3)]));
  expect([...found.keys()].sort(), JSON.stringify(examples)).toEqual(expected.sort());
  for (const role of listed) expect(roles[role]!.seesGold).toBeUndefined();
  // Nothing is known of a role that was not asked.
  const silent = Object.keys(roles).filter((role) => !asked.has(role));
  expect(silent.map((role) => `${name}/${role}`)).toEqual(
    NOT_ASKED.filter((of) => of.startsWith(`${name}/`)),
  );
});

test.each(['dapo', 'trio'])('a solver of %s that is shown the answer alone is found', async (name) => {
  const recipe = shipped.find(name);
  const { asked, found } = await shownBy({
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
  expect([...asked]).toContain(SOLVER);
  expect([...found.keys()]).toEqual([SOLVER]);
});

/** An answer that no role writes: a prompt that holds it has it from the file of tasks. */
const PLANTED = 'heliotrope';
const chat = chatOf(1024);

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

const SOURCES = [
  {
    weight: 1,
    tasks: [1, 2].map((line) => ({
      ...sayTask(`Say word ${line}`, PLANTED, line),
      solution: `It says ${PLANTED}.\n<answer>${PLANTED}</answer>`,
      metadata: { documents: ['It says a word.'] },
    })),
  },
];
const onFiles = (recipe: string, more: object = {}) =>
  questionRecipeFrom({ ...SAY, sources: SOURCES, recipe, ...more });

/** Roles that are told no more than whether an answer is right. */
const TOLD_WHETHER_RIGHT = ['sd-zero/reviser', 'svs/writer', 'rlver/assistant', 'sweet-rl/assistant'];

test.each(QUESTION_RECIPES)('on questions of files %s says which roles are shown answers', async (name) => {
  const recipe = onFiles(name);
  const says = ['Say four', '<answer>yes</answer>', '<answer>7</answer>', '<answer>red</answer>'];
  const { asked, shown } = await shownPlanted(recipe, says);
  expect(asked.size).toBeGreaterThan(0);
  const named = withGold(recipe).filter(
    (role) => ![...TOLD_WHETHER_RIGHT, ...MEASURES_WITH_GOLD].includes(`${name}/${role}`),
  );
  expect([...shown].sort()).toEqual(named.sort());
});

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
