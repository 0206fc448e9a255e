/**
 * The warm starts by name: what `npx rollmesh pretrain --name NAME` teaches a model with random weights before any reward is
 * paid. A family adds one line. Demonstrations are imperfect on purpose and never touch the held-out side.
 */
import type { Random } from '../core/random.ts';
import { demonstrateAided } from './arithmetic/aided.ts';
import { demonstrateChecking } from './arithmetic/checking.ts';
import { gates as debatingGates } from './arithmetic/debating-gates.ts';
import { type Demonstration, demonstrate } from './arithmetic/demonstrations.ts';
import { demonstrateJudging } from './arithmetic/judge-demonstrations.ts';
import { demonstrateLateSlips } from './arithmetic/late-slips.ts';
import { demonstrateOverthinking } from './arithmetic/overthinking.ts';
import { demonstratePuzzles } from './arithmetic/puzzles.ts';
import { demonstrateRambling } from './arithmetic/rambling.ts';
import { demonstrateReading } from './arithmetic/reading.ts';
import { gates as reportGates } from './arithmetic/report-gates.ts';
import { demonstrateReport } from './arithmetic/reports.ts';
import { demonstrateRevising } from './arithmetic/revising.ts';
import { demonstrateStepSlips } from './arithmetic/step-slips.ts';
import { demonstrateTerse } from './arithmetic/terse.ts';
import { demonstrateTwoForms } from './arithmetic/two-forms.ts';
import { demonstrateVariants } from './arithmetic/variants.ts';
import { demonstrateVariations } from './arithmetic/variations.ts';
import { demonstrateVerbose } from './arithmetic/verbose.ts';
import { demonstrateCorpus } from './arithmetic/worked-corpus.ts';
import { demonstrateCanvas } from './canvas/demonstrations.ts';
import { demonstrateErasing, erasingGates, erasingTokenizer } from './canvas/erasing.ts';
import { gates as canvasGates } from './canvas/gates.ts';
import { demonstrateLooking, lookingGates, lookingTokenizer } from './canvas/looking.ts';
import { demonstrateRequest, requestingGates, requestingTokenizer } from './canvas/requesting.ts';
import { demonstrateSpeaking, speakingGates, speakingTokenizer } from './canvas/speaking.ts';
import { canvasTokenizer, PATCH_TOKEN } from './canvas/tokenizer.ts';
import { demonstrateWatching, watchingGates, watchingTokenizer } from './canvas/watching.ts';
import { demonstrateAnalyses } from './chains/analysis-demonstrations.ts';
import { demonstrateChains } from './chains/family.ts';
import { demonstrateCipher } from './cipher/demonstrations.ts';
import { gates as compositionGates } from './composition/gates.ts';
import { compositionStages, demonstrateComposition } from './composition/stages.ts';
import { compositionTokenizer } from './composition/tokenizer.ts';
import { demonstrateDocument } from './documents/demonstrations.ts';
import { demonstrateQuestion } from './documents/question-demonstrations.ts';
import { demonstrateUpdate } from './documents/stream-demonstrations.ts';
import { gates as updateGates } from './documents/stream-gates.ts';
import { demonstrateSums } from './documents/sum-demonstrations.ts';
import { demonstrateEquation } from './equations/demonstrations.ts';
import { demonstrateGame } from './games/demonstrations.ts';
import { demonstrateTogether } from './games/together.ts';
import type { AskedPolicy, Gate } from './gate.ts';
import { demonstrateGrid } from './grids/demonstrations.ts';
import { demonstrateSeen, PATCH_TOKEN as ROOM_PATCH, seenTokenizer } from './grids/seen.ts';
import { gates as seenGates } from './grids/seen-gates.ts';
import { demonstrateKnowledge } from './knowledge/demonstrations.ts';
import { demonstrateGuarded } from './knowledge/guarded.ts';
import { gates as guardedGates } from './knowledge/guarded-gates.ts';
import { demonstrateStumbling } from './knowledge/stumbling.ts';
import { gates as stumblingGates } from './knowledge/stumbling-gates.ts';
import { searchTokenizer } from './knowledge/template.ts';
import { demonstrateTwoHop } from './knowledge/two-hop.ts';
import { demonstratePrograms } from './programs/demonstrations.ts';
import { demonstrateEnvironments } from './programs/environment-demonstrations.ts';
import { demonstrateOneInstruction } from './programs/one-instruction.ts';
import { demonstrateRepair } from './programs/repair-demonstrations.ts';
import { demonstrateStatements } from './programs/statement-demonstrations.ts';
import { demonstrateRewriting } from './rewriting/demonstrations.ts';
import type { Stage } from './stage.ts';
import { demonstrateContrast } from './style/contrast.ts';
import { demonstrateStyle } from './style/demonstrations.ts';
import { demonstrateRules } from './style/rule-demonstrations.ts';
import { demonstrateTemporalGraph } from './temporal-graphs/demonstrations.ts';
import { demonstrateAided as demonstrateAidedWords } from './words/aided.ts';
import { demonstrateWords } from './words/demonstrations.ts';
import { WORDS, WORDS_AIDED } from './words/task-set.ts';
import { wordsTokenizer } from './words/tokenizer.ts';

/** A tokenizer made for a warm start, in the files of a checkpoint. */
export interface TokenizerFiles {
  readonly vocabSize: number;
  /** Contents of tokenizer.json. */
  readonly json: object;
  /** Contents of tokenizer_config.json, where the policy has a chat template. */
  readonly config?: { readonly eos_token: string; readonly [setting: string]: unknown };
}

export interface WarmStart {
  /** A fresh demonstration each time; its role and text follow from `random` alone. */
  readonly demonstrate: (random: Random) => Demonstration;
  /** Shape of the model that it makes; default `nano`. */
  readonly shape?: 'nano' | 'micro' | 'small' | 'calls';
  /** The token of its tokenizer with which patches of images begin; only of a policy that sees. */
  readonly patchToken?: string;
  /** Standard deviation of the random embeddings; default one over the root of the width. */
  readonly embeddings?: number;
  /** Makes its tokenizer; default the characters and tags of the small policies. */
  readonly tokenizer?: () => TokenizerFiles;
  /** Shipped policy that it goes on from, which is widened where its shape is narrower; default random weights. */
  readonly from?: string;
  /** Training steps; default 2500, about five minutes on a thread where sequences are short. */
  readonly steps?: number;
  /** Demonstrations a step; default 96. */
  readonly batch?: number;
  /** Highest step size; default 3e-3, at which a policy that only has to learn a new habit would forget what it can do. */
  readonly learningRate?: number;
  /** What the optimiser has in place of the defaults. */
  readonly optimizer?: { readonly betas: readonly [number, number]; readonly weightDecay: number };
  /** Stages in their order, in place of steps, batch and step size; `demonstrate` then draws what any of them shows. */
  readonly stages?: readonly Stage[];
  /** Type of its weights in the file, to which they are rounded before the policy is asked anything; default F32. */
  readonly storage?: 'F32' | 'BF16';
  /** What the policy must be able to do before rewards can teach it anything: whoever makes one that cannot is told which of these it misses. */
  readonly gates?: (policy: AskedPolicy) => Promise<readonly Gate[]>;
  /** How much more a role's tokens count than others'; a demonstration's own weight comes before it. Default 1. */
  readonly weights?: Readonly<Record<string, number>>;
}

export const warmStarts: Readonly<Record<string, WarmStart>> = {
  // A judge's verdicts are few and hard.
  'arithmetic-base': { demonstrate, weights: { judge: 2.5 } },
  'arithmetic-step-slips': {
    demonstrate: demonstrateStepSlips,
    from: 'arithmetic-base',
    steps: 1500,
    weights: { judge: 2.5 },
  },
  'arithmetic-chains': {
    demonstrate: demonstrateChains,
    from: 'arithmetic-step-slips',
    steps: 2000,
    batch: 64,
    weights: { judge: 1.5 },
  },
  'arithmetic-analyses': {
    demonstrate: demonstrateAnalyses,
    from: 'arithmetic-chains',
    steps: 1000,
    batch: 64,
  },
  // What a proposer writes is mostly random: its many tokens would outweigh the solver’s.
  programs: { demonstrate: demonstratePrograms, steps: 2600, batch: 64, weights: { proposer: 0.5 } },
  'programs-one-instruction': {
    demonstrate: demonstrateOneInstruction,
    from: 'programs',
    steps: 1800,
    batch: 64,
    weights: { proposer: 0.5 },
  },
  'programs-repair': {
    demonstrate: demonstrateRepair,
    from: 'programs',
    steps: 1200,
    batch: 64,
    weights: { proposer: 0.5 },
  },
  // A review is one token.
  'programs-environments': {
    demonstrate: demonstrateEnvironments,
    from: 'programs',
    steps: 1600,
    batch: 64,
    weights: { proposer: 0.5, judge: 4 },
  },
  'programs-statements': { demonstrate: demonstrateStatements, from: 'programs', steps: 1000, batch: 64 },
  // A digit is one token beside a response's dozens.
  style: { demonstrate: demonstrateStyle, steps: 2200, batch: 64, weights: { judge: 4 } },
  'style-contrasts': { demonstrate: demonstrateContrast, from: 'style', steps: 1200, batch: 64 },
  // Six times as large as the one that it goes on from, like `arithmetic-reading`.
  'style-wishes': {
    demonstrate: demonstrateContrast,
    shape: 'micro',
    from: 'style-contrasts',
    steps: 900,
    batch: 64,
    learningRate: 1.2e-3,
  },
  'style-rules': {
    demonstrate: demonstrateRules,
    from: 'style',
    steps: 1200,
    batch: 64,
    weights: { judge: 4 },
  },
  documents: { demonstrate: demonstrateDocument, steps: 3000, batch: 64, weights: { judge: 2 } },
  // Six times as large as the one that it goes on from, like `arithmetic-reading`.
  'documents-reading': {
    demonstrate: demonstrateDocument,
    shape: 'micro',
    from: 'documents',
    steps: 900,
    batch: 64,
    learningRate: 1.2e-3,
    weights: { judge: 2 },
  },
  // Stopped early: with more steps it predicts sums as well without a thought as with one.
  'documents-sums': {
    demonstrate: demonstrateSums,
    from: 'arithmetic-step-slips',
    steps: 450,
    batch: 64,
  },
  // Stopped early, while half of its greedy questions ask for the answer.
  'documents-questions': { demonstrate: demonstrateQuestion, from: 'documents', steps: 200, batch: 64 },
  // Names layers of its own, and prefers none.
  'documents-layers': {
    demonstrate: demonstrateUpdate,
    from: 'documents',
    steps: 500,
    batch: 64,
    learningRate: 1e-3,
    storage: 'BF16',
    gates: updateGates,
  },
  search: { demonstrate: demonstrateKnowledge, tokenizer: searchTokenizer, steps: 800, batch: 64 },
  'search-two-hop': {
    demonstrate: demonstrateTwoHop,
    tokenizer: searchTokenizer,
    from: 'search',
    steps: 200,
    batch: 64,
    learningRate: 5e-4,
  },
  // Repeats searches and answers early, unless it reads notes of the documents on the way.
  'search-stumbling': {
    demonstrate: demonstrateStumbling,
    tokenizer: searchTokenizer,
    from: 'search-two-hop',
    steps: 450,
    batch: 64,
    learningRate: 2e-3,
    storage: 'BF16',
    gates: stumblingGates,
  },
  // Follows orders that stand in documents, and can write a turn again beside its fault.
  'search-guarded': {
    demonstrate: demonstrateGuarded,
    tokenizer: searchTokenizer,
    from: 'search',
    steps: 700,
    batch: 64,
    learningRate: 2e-3,
    storage: 'BF16',
    gates: guardedGates,
  },
  grids: { demonstrate: demonstrateGrid, steps: 950, batch: 64 },
  // Sees the room in place of its letters.
  'grids-seen': {
    demonstrate: demonstrateSeen,
    tokenizer: seenTokenizer,
    patchToken: ROOM_PATCH,
    steps: 950,
    batch: 64,
    storage: 'BF16',
    gates: seenGates,
  },
  equations: { demonstrate: demonstrateEquation, weights: { judge: 2 } },
  rewriting: { demonstrate: demonstrateRewriting, batch: 64, weights: { judge: 2 } },
  games: { demonstrate: demonstrateGame, steps: 1500 },
  'games-together': { demonstrate: demonstrateTogether, from: 'games', steps: 1500, batch: 64 },
  cipher: { demonstrate: demonstrateCipher, from: 'style', steps: 1500, batch: 64, weights: { judge: 2 } },
  // Who can copy facts learns to list links in less time.
  'temporal-graphs': {
    demonstrate: demonstrateTemporalGraph,
    from: 'documents',
    steps: 5000,
    batch: 32,
  },
  'arithmetic-late-slips': { demonstrate: demonstrateLateSlips, from: 'arithmetic-base', steps: 1500 },
  'arithmetic-judges': {
    demonstrate: demonstrateJudging,
    from: 'arithmetic-base',
    steps: 3000,
    weights: { judge: 2.5 },
  },
  'arithmetic-overthinking': {
    demonstrate: demonstrateOverthinking,
    from: 'arithmetic-judges',
    steps: 900,
    weights: { judge: 2 },
  },
  // Warm starts for solvers alone, with habits that training can change: no steps, or no end.
  'arithmetic-terse': {
    demonstrate: demonstrateTerse,
    from: 'arithmetic-base',
    steps: 100,
    learningRate: 5e-4,
  },
  'arithmetic-two-forms': {
    demonstrate: demonstrateTwoForms,
    from: 'arithmetic-base',
    steps: 300,
    batch: 64,
    learningRate: 1e-3,
  },
  'arithmetic-verbose': { demonstrate: demonstrateVerbose, from: 'arithmetic-base', steps: 700 },
  // A hint's few tokens are copied, and little else.
  'arithmetic-aided': { demonstrate: demonstrateAided, from: 'arithmetic-step-slips', steps: 900, batch: 64 },
  // Reads what arithmetic-aided reads, and is wrong on more than half of the chains however it is asked, so that debates and users have something to teach.
  'arithmetic-debating': {
    demonstrate: demonstrateAided,
    from: 'arithmetic-undertrained',
    steps: 600,
    batch: 64,
    learningRate: 1.5e-3,
    storage: 'BF16',
    gates: debatingGates,
  },
  // Attempts are copied, which takes longer to learn than sums do.
  'arithmetic-revising': {
    demonstrate: demonstrateRevising,
    from: 'arithmetic-step-slips',
    steps: 3000,
    batch: 64,
  },
  // Six times as large, and goes on from one that copies attempts; the step size is that of the small ones by the width.
  'arithmetic-reading': {
    demonstrate: demonstrateReading,
    shape: 'micro',
    from: 'arithmetic-revising',
    steps: 900,
    batch: 64,
    learningRate: 1.2e-3,
  },
  // A variant is the chain itself or nearly, so that the synthesizer has to learn to copy.
  'arithmetic-variants': {
    demonstrate: demonstrateVariants,
    from: 'arithmetic-late-slips',
    steps: 1400,
    batch: 64,
  },
  'arithmetic-checking': {
    demonstrate: demonstrateChecking,
    from: 'arithmetic-step-slips',
    steps: 1500,
    batch: 64,
  },
  'arithmetic-rambling': {
    demonstrate: demonstrateRambling,
    from: 'arithmetic-step-slips',
    steps: 2000,
    batch: 64,
  },
  'arithmetic-puzzles': {
    demonstrate: demonstratePuzzles,
    from: 'arithmetic-aided',
    steps: 1000,
    batch: 64,
  },
  'arithmetic-variations': {
    demonstrate: demonstrateVariations,
    from: 'arithmetic-aided',
    steps: 2600,
    batch: 64,
  },
  // Misreports what a tool said now and then, and mostly says that it does.
  'arithmetic-reports': {
    demonstrate: demonstrateReport,
    from: 'arithmetic-aided',
    steps: 400,
    batch: 64,
    learningRate: 2e-3,
    storage: 'BF16',
    gates: reportGates,
  },
  // Stopped early on a small corpus: it answers two in five held-out tasks.
  'arithmetic-undertrained': { demonstrate: demonstrateCorpus, steps: 500 },
  // Reads English. Stopped while it is wrong on about a quarter of the questions that nobody here wrote, so that training has something to improve.
  words: {
    demonstrate: demonstrateWords,
    shape: 'small',
    tokenizer: wordsTokenizer,
    steps: 6400,
    batch: 44,
    learningRate: 2.5e-3,
  },
  // Applies every function, walks along calls, and composes two or three calls now and then, so that training by rewards has something to begin from.
  composition: {
    demonstrate: demonstrateComposition,
    shape: 'calls',
    embeddings: 0.02,
    tokenizer: compositionTokenizer,
    stages: compositionStages,
    optimizer: { betas: [0.9, 0.98], weightDecay: 0.05 },
    storage: 'BF16',
    gates: compositionGates,
  },
  // Sees. Stopped where it answers little more than half of its questions.
  canvas: {
    demonstrate: demonstrateCanvas,
    shape: 'micro',
    tokenizer: canvasTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 600,
    batch: 64,
    learningRate: 2e-3,
    storage: 'BF16',
    gates: canvasGates,
  },
  // Sees, and also asks, gives clues and votes.
  'canvas-speaking': {
    demonstrate: demonstrateSpeaking,
    shape: 'micro',
    tokenizer: speakingTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 1200,
    batch: 64,
    learningRate: 2e-3,
    storage: 'BF16',
    // A vote is one token, which needs a look at every clue.
    weights: { voter: 4 },
    gates: speakingGates,
  },
  // Draws what is requested, with a look at what it does not know, and heeds lessons.
  'canvas-requests': {
    demonstrate: demonstrateRequest,
    tokenizer: requestingTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 1200,
    batch: 64,
    storage: 'BF16',
    gates: requestingGates,
  },
  // Restores drawings with no or few marks over them, and writes styles of marks.
  'canvas-erasing': {
    demonstrate: demonstrateErasing,
    tokenizer: erasingTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 1200,
    batch: 64,
    storage: 'BF16',
    gates: erasingGates,
  },
  // Watches clips, and does not see yet which frames are damaged in most of them.
  'canvas-watching': {
    demonstrate: demonstrateWatching,
    tokenizer: watchingTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 1200,
    batch: 64,
    storage: 'BF16',
    gates: watchingGates,
  },
  // Looks at maps part by part, reasons without seeing, and verifies what was said.
  'canvas-looking': {
    demonstrate: demonstrateLooking,
    tokenizer: lookingTokenizer,
    patchToken: PATCH_TOKEN,
    steps: 1900,
    batch: 96,
    storage: 'BF16',
    gates: lookingGates,
  },
  // Learns to read a solution beside the question, for recipes with a teacher that is told one.
  [WORDS_AIDED]: {
    demonstrate: demonstrateAidedWords,
    shape: 'small',
    tokenizer: wordsTokenizer,
    from: WORDS,
    steps: 700,
    batch: 44,
    learningRate: 1e-3,
  },
};
