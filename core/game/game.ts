/**
 * A game: what a world is to a recipe. It has tasks with an oracle, and says every verb in its own words: in the tags of a small policy, or in messages
 * for any chat template.
 */
import type { TokenIds } from '../policy/policy.ts';
import type { Random } from '../random.ts';
import type { Part } from '../recipe/reading.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import type { EvaluationTasks } from '../recipe/split.ts';
import { type ParseResult, rendered, type Solution, type TaskFamily } from '../recipe/task-family.ts';
import type { Renderer } from '../renderer/renderer.ts';
import type { InvalidOutcome } from '../schema/outcome.ts';
import type { Proposals } from '../schema/sample.ts';
import type { AboutOf, Datum, SaysOf, SearchStep, Verb } from './verbs.ts';

/** What texts are written and read with: a stage, or the learner's tools. */
export interface Speaker {
  readonly renderer: () => Renderer;
}

/** How a world says a verb. Texts that come back include their stop token. */
export interface Wording<V extends Verb> {
  /** Longest text that comes back, in tokens, its end included. */
  readonly maxNew: number;
  readonly ask: (about: AboutOf<V>, speaker: Speaker) => string;
  readonly read: (text: string, about: AboutOf<V>, speaker: Speaker) => ParseResult<SaysOf<V>>;
}
export type Wordings<V extends Verb> = { readonly [W in V]: Wording<W> };

/** A round context whose tasks may be drawn by weights. `key`: that of a task of a file (`taskKey`). */
export interface DrawingContext extends RoundContext {
  readonly weightOf?: (key: string) => number;
}

/** Leaves out tasks that are too long; `tokens` counts the prompt with all that is written after it. */
export interface Fitting {
  readonly fits: (task: string) => boolean;
  readonly leftOut: NonNullable<Proposals['leftOut']>;
}

/** Which tasks that a policy wrote are refused, apart from those that do not parse. */
export interface TaskGate {
  readonly isHeldOut: (task: string) => boolean;
  /** Why a task is refused that is not held out; null where it is admitted. */
  readonly refuse: (task: string) => InvalidOutcome | null;
}

/** What an exact checker of steps says of solutions. A part is a step, or the answer after the last one. */
export interface StepChecker {
  /** The first part that is wrong, from 0; null where everything is right. */
  readonly firstFault: (task: string, solution: Solution) => number | null;
  /** The right steps up to a part, as text. */
  readonly upTo: (task: string, part: number) => string;
  /** The right steps of a solution and its first wrong one corrected, as text; null where everything is right. */
  readonly feedback: (task: string, solution: Solution) => string | null;
  /** The right steps of a solution and its first wrong one as it is, as text; null where everything is right. */
  readonly quoted: (task: string, solution: Solution) => string | null;
  /** The part that each token of a solution belongs to [ids]. */
  readonly partsOf: (ids: TokenIds, encode: (text: string) => TokenIds) => number[];
}

/** What a user wants to hear, and does not say at once. */
export interface UserNeed {
  /** As the user says it: "how long it takes". */
  readonly wants: string;
  /** What a reply says that gives it to him: "30 minutes". */
  readonly told: string;
  readonly isMet: (reply: string) => boolean;
}

/** What a tool says of a task, which is right, and what whoever asks hopes to hear in its place. */
export interface Temptation {
  readonly told: string;
  readonly hoped: string;
}

/** An order that somebody put into a document, to whoever reads it. */
export interface Planted {
  /** The search that it asks for. No search that the task needs has these words. */
  readonly query: string;
  /** A document with the order in it. */
  readonly into: (document: string) => string;
}

/** Documents that can be searched. */
export interface Library {
  /** The few documents that fit a query best, the best first. */
  readonly search: (query: string) => readonly string[];
  /** What an examiner is given to begin with, such as a document; absent where there are no examiners. */
  readonly begin?: (random: Random) => string;
  /** By the oracle: does one of the documents hold the answer to the task? */
  readonly hold: (documents: readonly string[], task: string) => boolean;
  readonly plant: (random: Random, task: string) => Planted;
  /** Does an answer say that nothing is answered? */
  readonly declines: (solution: Solution) => boolean;
}

/** What a task has that an examiner wrote. */
export interface Examined {
  /** What he had and found, in that order. */
  readonly path: (task: string) => readonly SearchStep[];
  /** The answer that he gave with it, which no reference says is right. */
  readonly answer: (task: string) => string;
  readonly accepts: (task: string, solution: Solution) => boolean;
}

export interface Game<V extends Verb = Verb> {
  /** The tasks and their oracle. */
  readonly family: TaskFamily;
  readonly words: Wordings<V>;
  /** Verbs beside these that the world knows (`Needs.alsoSays`). */
  readonly also?: Partial<Wordings<Verb>>;
  /** Verbs that a rule of the world does in place of a policy: the task that it writes from another, which may differ by group; null where it finds none. */
  readonly byRule?: Partial<
    Record<'vary' | 'rephrase' | 'evolve', (task: string, group: string) => string | null>
  >;
  /** What its data have beside the tasks. */
  readonly data: readonly Datum[];
  /** `count` tasks for a round, none held out; by default as many as the run's settings say. */
  readonly tasks: (context: DrawingContext, count?: number) => Proposals | Promise<Proposals>;
  /** Its tasks are given, and a proposer is shown one of them to write another; absent where a proposer needs no example. */
  readonly byExample?: true;
  readonly gate: (context: RoundContext) => TaskGate | Promise<TaskGate>;
  /** Which tasks fit into the policy's context with all that is written about them; absent where all do. */
  readonly fitting?: (context: RoundContext) => Fitting;
  /** The held-out tasks that evaluations ask, and that test-time training trains on. */
  readonly tests: (asked: EvaluationTasks) => readonly string[];
  /** A task that asks nothing, to score answers without their question. */
  readonly blank: string;
  /** A token that no text has, and its mean log-probability after an answer of the start policy, nats; absent where no such token is known. */
  readonly unused?: { readonly text: string; readonly logprob: number };
  /** A task with another picture in place of its own, which follows from `key`: whoever answers it is blind to what was asked about. Absent where tasks show no pictures, or no others are at hand. */
  readonly otherPicture?: (task: string, key: string) => string;
  /** The frames of a task's clip in their order, as texts of pictures; absent where tasks have none. */
  readonly frames?: (task: string) => readonly string[];
  /** The task that teaches most, where somebody chose one. */
  readonly example?: string;
  /** Samples of each held-out task that an evaluation takes; by default the recipe says it. */
  readonly draws?: number;
  /** How answers are to be marked in a text. */
  readonly form?: {
    /** Reads an answer in whatever form. */
    readonly read: (task: string, text: string, speaker: Speaker) => ParseResult<Solution>;
    /** An answer in its form and in a damaged one, each with what ends it where the world has a token for that. Which damage it is follows from `key`. */
    readonly pair: (
      solution: Solution,
      key: string,
    ) => { readonly chosen: string; readonly rejected: string };
  };
  /** What the user who asks a task needs; absent where there are no users. */
  readonly needsOf?: (task: string) => readonly UserNeed[];
  /** Absent where nobody hopes for anything. */
  readonly temptation?: (task: string) => Temptation;
  /** Absent where there is nothing to search. */
  readonly library?: Library;
  /** Absent where there are no examiners. */
  readonly examination?: Examined;
  /** Absent where nobody knows the steps. */
  readonly steps?: StepChecker;
  /** The worked solution of a task; absent where the data have none. */
  readonly reference?: (task: string) => Solution;
  /** The texts with which a step of a solution ends as a solver writes it, or the next one begins; default a line break. */
  readonly stepEnds?: readonly string[];
  /** What a solution writes before its answer, line by line, and such lines as text. */
  readonly reasoning: {
    readonly lines: (solution: Solution) => readonly string[];
    readonly write: (lines: readonly string[]) => string;
  };
  /** How a verdict is cut into parts for a reader; default by its tags. */
  readonly readVerdict?: (text: string) => readonly Part[];
  /** What a task asks, as text. */
  readonly question: (task: string) => string;
  /** A solution as text, as roles are shown it. */
  readonly write: (solution: Solution) => string;
  /** What a role wrote, without the token that ended it, as others can be shown it. */
  readonly said: (text: string, speaker: Speaker) => string;
}

/** A prompt, and how what comes back is parsed. */
export interface Asked<T> {
  readonly prompt: string;
  /** Parses a text with its stop token. */
  readonly parse: (text: string) => ParseResult<T>;
}

/** A verb about something, as the game says it to the policy of a stage. */
export const asking = <V extends Verb>(
  { words }: { readonly words: Wordings<V> },
  speaker: Speaker,
  verb: V,
  about: AboutOf<V>,
): Asked<SaysOf<V>> => ({
  prompt: words[verb].ask(about, speaker),
  parse: (text) => words[verb].read(text, about, speaker),
});

/** The words of a family for what every family is asked. */
export const familyWords = (family: TaskFamily): Wordings<'solve' | 'verify'> => ({
  solve: {
    maxNew: family.maxNew.solver,
    ask: ({ task }, speaker) => rendered(family, speaker).solverPrompt(task),
    read: (text, { task }, speaker) => rendered(family, speaker).parseSolution(task, text),
  },
  verify: {
    maxNew: family.maxNew.judge,
    ask: ({ task, solution }, speaker) => rendered(family, speaker).judgePrompt(task, solution),
    read: (text, { solution }, speaker) => rendered(family, speaker).parseJudgment(solution, text),
  },
});
