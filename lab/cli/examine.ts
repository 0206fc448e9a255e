/** What a claim asks of the first and the last version of a run, after it: many samples of each question, several temperatures, a vote (rule/claim.ts). */
import { deriveId, majority, mean, passAtK, type Solution } from 'rollmesh';
import {
  type EvaluationTasks,
  type MemoryRunStore,
  nodeEngines,
  OpenPolicies,
  type OrderedRun,
  type Summary,
  textOf,
} from 'rollmesh/local';
import type { Examination } from '../rule/claim.ts';

/** Samples of a question, and how many questions of a level are sampled so often. */
const SAMPLES = 64;
const QUESTIONS = 8;
/** The numbers of samples whose chance to hold a right one is told. */
const CHANCES = [1, 4, 16, SAMPLES];
/** Temperatures that version 0 is asked all questions of a level at, with how many samples of each; 0 is greedy. */
const TEMPERATURES: readonly (readonly [number, number])[] = [
  [0, 1],
  [0.3, 8],
  [0.6, 8],
  [1, 8],
];

type Figures = Readonly<Record<string, number>>;
export interface Answered {
  /** Null where it gave none. */
  readonly answer: string | null;
  readonly isExact: boolean;
  /** With every step right. */
  readonly isRight: boolean;
}

/** Asks a version for answers to questions [questions] -> [questions][draws]. */
export type AskVersion = (
  questions: readonly string[],
  temperature: number,
  draws: number,
) => Promise<Answered[][]>;

function asking(
  { settings, recipe }: OrderedRun,
  version: number,
  files: Parameters<typeof textOf>[0],
  policies: OpenPolicies,
  { family, role }: Examination,
): AskVersion {
  const { tokenizer } = textOf(files, settings.policy);
  const { sampling } = recipe.roles[role]!;
  const stop = [tokenizer.id(family.stop!)];
  const { policy: name, engine } = settings;
  const answered = (task: string, text: string): Answered => {
    const parsed = family.parseSolution(task, text);
    if (!parsed.ok) return { answer: null, isExact: false, isRight: false };
    const { value }: { value: Solution } = parsed;
    const isRight = family.exactJudgment(task, value).right;
    return { answer: value.answer, isExact: family.answerIsExact(task, value), isRight };
  };
  return (questions, temperature, draws) =>
    policies.use({ name, version, engine }, async (policy) => {
      const prompts = questions.map((task) => ({
        ids: tokenizer.encode(family.solverPrompt(task)),
        sampleIds: Array.from({ length: draws }, (_, i) => deriveId('examine', temperature, task, i)),
      }));
      const made = await policy.generate(prompts, { ...sampling, temperature, stop });
      return made.map((completions, q) =>
        completions.map(({ ids, stopped }) => answered(questions[q]!, stopped ? tokenizer.decode(ids) : '')),
      );
    });
}

const right = (answers: readonly (readonly Answered[])[]) =>
  mean(answers.flat().map(({ isRight }) => Number(isRight)));

/** Is the most frequent answer the exact one? Of equally frequent ones the one that came first. */
function votes(answers: readonly Answered[]): boolean {
  const vote = majority(answers.map(({ answer }) => answer));
  return answers.find(({ answer }) => answer !== null && answer === vote?.answer)?.isExact ?? false;
}

/** The figures of one level. `isStart`: of version 0, which is asked at several temperatures and for a vote. */
export async function examineLevel(
  ask: AskVersion,
  level: number,
  questions: readonly string[],
  isStart: boolean,
): Promise<Figures> {
  const sampled = await ask(questions.slice(0, QUESTIONS), 1, SAMPLES);
  const passes = CHANCES.map((k) => [
    `pass${k}.${level}`,
    mean(sampled.map((answers) => passAtK(SAMPLES, answers.filter(({ isRight }) => isRight).length, k))),
  ]);
  if (!isStart) return Object.fromEntries(passes);
  const shares: number[] = [];
  for (const [temperature, draws] of TEMPERATURES)
    shares.push(right(await ask(questions, temperature, draws)));
  return {
    ...Object.fromEntries(passes),
    [`best.${level}`]: Math.max(...shares),
    [`majority.${level}`]: mean(sampled.map((answers) => Number(votes(answers)))),
  };
}

/** What version 0 of a start can do, which is the same in every arm. */
const ofStarts = new Map<string, Promise<Figures>>();

/** The summary of a run with the figures of the examination at its first and its last evaluation. `from`: the start, among all that this process plays. */
export async function examined(
  summary: Summary,
  run: OrderedRun,
  store: MemoryRunStore,
  examination: Examination,
  tasks: EvaluationTasks,
  from: string,
): Promise<Summary> {
  const { family, levels } = examination;
  const asked = family.heldOut(tasks);
  const { policy: name } = run.settings;
  const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
  const start = await store.loadVersion({ name, version: 0 });
  const figuresOf = async (version: number): Promise<Figures> => {
    const ask = asking(run, version, start, policies, examination);
    const all: Figures[] = [];
    for (const level of levels) {
      const questions = asked.filter((task) => family.difficulty(task) === level);
      if (questions.length) all.push(await examineLevel(ask, level, questions, version === 0));
    }
    return Object.assign({}, ...all);
  };
  const { heldout } = summary;
  const [first, last] = [heldout[0]!, heldout.at(-1)!];
  const ofStart = ofStarts.get(from) ?? figuresOf(first.version!);
  ofStarts.set(from, ofStart);
  const more = new Map([
    [first, await ofStart],
    [last, await figuresOf(last.version!)],
  ]);
  await policies.dispose();
  return {
    ...summary,
    heldout: heldout.map((point) => {
      const figures = more.get(point);
      return figures ? { ...point, figures: { ...point.figures, ...figures } } : point;
    }),
  };
}
