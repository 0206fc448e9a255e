/**
 * Environments that a policy writes as a pair of programs (EvoEnv). The sampler turns a seed, a short random list, into an instance. The reference says
 * what is right about it: in a deduction it is run on the instance, and in an abduction it is run on what the solver answers, which has to give the
 * same list as the planted instance does. The scorer is the interpreter, so that one pair makes any number of tasks.
 *
 *     environment  kind:sampler;reference           d:sort;rev +3
 *     task         environment;seed                 d:sort;rev +3;2 1     the solver is asked d:rev +3;1 2
 *     tasks        environment;seed;…;seed          one task for each seed
 *     proposer     <propose>e:environment<sep>  ->  another environment<eos>
 *     reviewer     <judge>e:environment<sep>    ->  <right><eos> where every instruction matters, <wrong><eos> where one is idle
 */
import { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import { invalid, ok, type ParseResult, type TaskFamily } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { programs, splitTask, taskOf } from './family.ts';
import { DEFAULT_PROGRAMS, drawProgram, isDefined, isHeldOutProgram, randomList } from './generate.ts';
import { outputOf, sameList } from './interpreter.ts';
import { type List, type Program, parseList, parseProgram, writeList } from './language.ts';
import type { QuestionKind } from './questions.ts';

const NAME = 'environments';
/** The kinds of question that an environment may ask: hard to work out, or hard to find and easy to check. */
const KINDS = ['deduction', 'abduction'] as const;
const HELD_OUT_COUNT = 150;
/** Seeds on which every environment is tried before it is admitted. */
const TRIED = 8;
/** Of the seeds that are tried: the fewest different instances and answers, and the most that may be answered by a copy. */
const FEWEST_DIFFERENT = 4;
const MOST_COPIED = 4;

export interface Environment {
  readonly kind: QuestionKind;
  readonly sampler: Program;
  readonly reference: Program;
}

let drawnSeeds: readonly List[] | undefined;
/** The seeds that are tried: the same for every environment and in every process. */
function triedSeeds(): readonly List[] {
  if (drawnSeeds) return drawnSeeds;
  const random = new Random(`${NAME}/seeds`);
  const seeds = new Map<string, List>();
  while (seeds.size < TRIED) {
    const list = randomList(random);
    seeds.set(writeList(list), list);
  }
  drawnSeeds = [...seeds.values()];
  return drawnSeeds;
}

/** The programs that a text means; nothing is run. */
export function parseEnvironment(text: string): ParseResult<Environment> {
  const parts = splitTask(text);
  if (!parts || !KINDS.some((kind) => kind === parts.kind)) return invalid('no-kind');
  const [first = '', second, ...more] = parts.task.split(';');
  if (second === undefined || more.length > 0) return invalid('off-grammar');
  const [sampler, reference] = [parseProgram(first), parseProgram(second)];
  if (!sampler.ok) return sampler;
  if (!reference.ok) return reference;
  return ok({ kind: parts.kind, sampler: sampler.value, reference: reference.value });
}

const environmentOf = (text: string): Environment => {
  const parsed = parseEnvironment(text);
  if (!parsed.ok) throw new Error(`internal: ${text} is no environment: ${parsed.reason}`);
  return parsed.value;
};

/** The instance that a seed gives; null where it has none, or where the reference has no result on it. */
function instanceOf({ sampler, reference }: Environment, seed: List): List | null {
  const instance = isDefined(sampler, seed) ? outputOf(sampler, seed) : null;
  return instance && isDefined(reference, instance) ? instance : null;
}

/**
 * Why an environment that parses is refused, by the first layer that refuses it: undefined (it has no instance or no answer on a seed that is tried),
 * unvaried (too few different instances or answers), gives-away (its scorer takes what the solver is shown for an answer too often). null = it passes.
 * The language has no chance in it, so that an environment cannot give different instances for one seed.
 */
export function mechanicalFault(text: string): 'undefined' | 'unvaried' | 'gives-away' | null {
  const environment = environmentOf(text);
  const { kind, reference } = environment;
  const instances = triedSeeds().map((seed) => instanceOf(environment, seed));
  const defined = instances.filter((instance) => instance !== null);
  if (defined.length < instances.length) return 'undefined';
  const answers = defined.map((instance) => outputOf(reference, instance)!);
  const different = (lists: readonly List[]) => new Set(lists.map(writeList)).size;
  if (Math.min(different(defined), different(answers)) < FEWEST_DIFFERENT) return 'unvaried';
  const copied = defined.filter((instance, i) => {
    if (kind === 'deduction') return sameList(instance, answers[i]!);
    return sameList(outputOf(reference, answers[i]!) ?? [], answers[i]!);
  });
  return copied.length > MOST_COPIED ? 'gives-away' : null;
}

/** By the oracle: does every instruction of the reference matter on some of the seeds that are tried? A reviewer is asked for this, and never told. */
export function isSound(text: string): boolean {
  const environment = environmentOf(text);
  const instances = triedSeeds().flatMap((seed) => {
    const instance = instanceOf(environment, seed);
    return instance ? [instance] : [];
  });
  const words = splitTask(text)!.task.split(';')[1]!.split(' ');
  return words.every((_, at) => {
    const without = words.length > 1 ? parseProgram(words.toSpliced(at, 1).join(' ')) : ok([]);
    // A bracket without its partner is no program: nothing can be said of it.
    if (!without.ok) return true;
    return instances.some((instance) => {
      const other = outputOf(without.value, instance);
      return other === null || !sameList(other, outputOf(environment.reference, instance)!);
    });
  });
}

/** How often each instruction and each two neighbours stand in the reference, digits left out: what two environments are compared by. */
function featuresOf(text: string): ReadonlyMap<string, number> {
  const ops = environmentOf(text).reference.map(({ op }) => op);
  const counts = new Map<string, number>();
  for (const [i, op] of ops.entries())
    for (const feature of i > 0 ? [op, `${ops[i - 1]} ${op}`] : [op])
      counts.set(feature, (counts.get(feature) ?? 0) + 1);
  return counts;
}

/** Cosine of the instructions of two environments' references, 0 … 1; 1 where they differ in digits alone. */
export function likeness(a: string, b: string): number {
  const [x, y] = [featuresOf(a), featuresOf(b)];
  const dot = [...x].reduce((sum, [feature, n]) => sum + n * (y.get(feature) ?? 0), 0);
  const norm = (counts: ReadonlyMap<string, number>) =>
    Math.sqrt([...counts.values()].reduce((sum, n) => sum + n * n, 0));
  return dot / (norm(x) * norm(y));
}

/** How many of the environments have references that differ from each other in more than digits. */
export const differentReferences = (texts: readonly string[]): number =>
  new Set(
    texts.map((text) =>
      environmentOf(text)
        .reference.map(({ op }) => op)
        .join(' '),
    ),
  ).size;

export const proposerPromptAfter = (environment: string): string => `<propose>e:${environment}<sep>`;
export const reviewPrompt = (environment: string): string => `<judge>e:${environment}<sep>`;

/** The environment that a proposer’s text states; it is of the kind that its prompt shows, or of the other. */
export function parseProposedEnvironment(text: string): ParseResult<string> {
  const body = withoutStop(text);
  if (body === null) return invalid('off-grammar');
  const parsed = parseEnvironment(body);
  return parsed.ok ? ok(body) : parsed;
}

/** What a review says: whether the environment is sound. */
export function parseReview(text: string): ParseResult<boolean> {
  const body = withoutStop(text);
  return body === '<right>' || body === '<wrong>' ? ok(body === '<right>') : invalid('off-grammar');
}

/** Environments are held out by what their reference does, whatever their sampler is. */
export const isHeldOutEnvironment = (text: string): boolean => {
  const parsed = parseEnvironment(text);
  return parsed.ok && isHeldOutProgram(parsed.value.reference);
};

/** Draws `count` seeds on which an environment that passed the layers has an instance. */
export const drawSeeds = (random: Random, text: string, count: number): string[] =>
  Array.from({ length: count }, () => {
    const drawn = randomList(random);
    // On those that were tried it has one.
    return writeList(instanceOf(environmentOf(text), drawn) ? drawn : random.pick(triedSeeds()));
  });

const ONE: readonly [number, number] = [1, 1];

/** A random environment that passes the mechanical layers; its reference has one to three instructions, or as many as are asked for. */
export function randomEnvironment(
  random: Random,
  heldOut = false,
  instructions: readonly [number, number] = DEFAULT_PROGRAMS.instructions,
): string {
  return drawUntil(
    () => {
      const sampler = drawProgram(random, 1, false, { ...DEFAULT_PROGRAMS, instructions: ONE }).text;
      const reference = drawProgram(random, 1, heldOut, { ...DEFAULT_PROGRAMS, instructions }).text;
      return taskOf(random.pick(KINDS), `${sampler};${reference}`);
    },
    (text) => mechanicalFault(text) === null,
  );
}

/** An environment with its seeds, as a task or several tasks are written. */
function splitSeeds(text: string): { environment: string; seeds: string[] } {
  const [sampler, reference, ...seeds] = text.split(';');
  return { environment: `${sampler};${reference}`, seeds };
}

/** The environment of a task, or of several. */
export const environmentOfTask = (task: string): string => splitSeeds(task).environment;

/** The tasks that a text with one seed or more stands for. */
export function tasksOf(text: string): string[] {
  const { environment, seeds } = splitSeeds(text);
  return seeds.map((seed) => `${environment};${seed}`);
}

/** The question of the family `programs` that a task asks, of several the first; empty for text that is no task. */
export function questionOf(task: string): string {
  const { environment, seeds } = splitSeeds(task);
  const [parsed, seed] = [parseEnvironment(environment), parseList(seeds[0] ?? '')];
  const instance = parsed.ok && seed.ok ? instanceOf(parsed.value, seed.value) : null;
  if (!instance || !parsed.ok) return '';
  const reference = environment.slice(environment.indexOf(';') + 1);
  return taskOf(parsed.value.kind, `${reference};${writeList(instance)}`);
}

const isHeldOut = (task: string): boolean => isHeldOutEnvironment(environmentOfTask(task));

function drawTask(random: Random, heldOut: boolean): string {
  const environment = randomEnvironment(random, heldOut);
  return `${environment};${drawSeeds(random, environment, 1)[0]}`;
}

/** Tasks of environments, asked and answered as questions of the family `programs`. */
export const environments: TaskFamily = {
  ...programs,
  name: NAME,
  random: (random) => drawTask(random, false),
  heldOut: heldOutTasks(NAME, HELD_OUT_COUNT, drawTask, isHeldOut),
  isHeldOut,
  difficulty: (task) => programs.difficulty(questionOf(task)),
  proposerPrompt: () => '<propose>e:<sep>',
  solverPrompt: (task) => programs.solverPrompt(questionOf(task)),
  judgePrompt: (task, solution) => programs.judgePrompt(questionOf(task), solution),
  parseProposal: parseProposedEnvironment,
  parseSolution: (task, text) => programs.parseSolution(questionOf(task), text),
  answerIsExact: (task, solution) => programs.answerIsExact(questionOf(task), solution),
  exactJudgment: (task, solution) => programs.exactJudgment(questionOf(task), solution),
};
