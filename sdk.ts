/**
 * `rollmesh`: everything that a recipe is written with. It is all pure and may be part of a Worker. The Workers themselves are in
 * `rollmesh/workers`, tensors and losses in `rollmesh/learner`, the sampler and the trainer for a loop of one's own in `rollmesh/local`,
 * policies behind a server in `rollmesh/remote`, helpers for tests in `rollmesh/testing`, the shipped recipes in `rollmesh/recipes`.
 *
 *     import { arithmetic, defineRecipe, exactReward, groupItems, grpo, solverAlone, solverUpdate, trainedSolver } from 'rollmesh';
 */
import { checkRecipe } from './core/recipe/check-recipe.ts';
import type { Recipe } from './core/recipe/recipe.ts';

/**
 * Returns the recipe itself. Throws `wrong-input` with the code `recipe.invalid`, which names each field that is missing, unknown or of
 * another kind, wherever the module is loaded: in a Worker, a command or a test. The editor and `tsc` name them as well.
 */
export const defineRecipe = (recipe: Recipe): Recipe => checkRecipe(recipe, 'What `defineRecipe` is given');

export type {
  HostedCall,
  HostedEnvironment,
  HostedOutput,
  HostedSplit,
  HostedTask,
  HostedTool,
} from './core/episodes/hosted-environment.ts';
export {
  type Answered,
  type Beginning,
  episodesOf,
  type Played,
  type PlaySettings,
  playEpisodes,
} from './core/episodes/play-episodes.ts';
export {
  type Ended,
  playSeats,
  type Reading,
  type Seated,
  type SeatsBeginning,
  type SeatsPlayed,
  type SeatsRules,
  type Written,
} from './core/episodes/play-seats.ts';
export { type FailureKind, kindOf, RollmeshError, wrongInput } from './core/errors.ts';
export type { Moved, SeatedGame } from './core/game/seated-game.ts';
export type { Datum, Verb, Verbs } from './core/game/verbs.ts';
export type * from './core/plan/training-plan.ts';
export {
  type Completion,
  ENGINES,
  type Engine,
  type GeneratePrompt,
  type Policy,
  type PolicyRef,
  type SamplingSettings,
  type TokenIds,
  type TokenScores,
} from './core/policy/policy.ts';
export { deriveId, Random } from './core/random.ts';
// The contract: what a recipe is, what its functions are given, and what they return.
export { checkRecipe } from './core/recipe/check-recipe.ts';
export { arXiv, type Method, type Paper, type Recipe, type RoundShape } from './core/recipe/recipe.ts';
export { readState, type StateSchema } from './core/recipe/recipe-state.ts';
export { type Registry, registry } from './core/recipe/registry.ts';
export type { RewardFunction, RewardRollout, RewardTask } from './core/recipe/reward-function.ts';
export { type Placement, type RewardInfo, type RoleSettings, role } from './core/recipe/role.ts';
export {
  type EvaluationContext,
  type RoundContext,
  refOf,
  sampleOf,
  samplingOf,
} from './core/recipe/round-context.ts';
export { drawUntil, heldOutTasks, isHeldOutKey } from './core/recipe/split.ts';
export {
  invalid,
  type Judgment,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from './core/recipe/task-family.ts';
export * from './core/rl/aggregation.ts';
export * from './core/rl/conventions.ts';
// Estimators, rewards, selection and corrections: functions on arrays.
export * from './core/rl/corrections/index.ts';
export * from './core/rl/estimators/index.ts';
export * from './core/rl/groups.ts';
export * from './core/rl/measures/area-under-roc.ts';
export * from './core/rl/measures/average-linkage.ts';
export * from './core/rl/measures/exploitability.ts';
export * from './core/rl/measures/rank-correlation.ts';
export * from './core/rl/objective.ts';
export * from './core/rl/rewards/index.ts';
export * from './core/rl/selection/index.ts';
export * from './core/rl/statistics.ts';
export * from './core/rl/types.ts';
export { type Phase, phaseAt, type Schedule } from './core/round/phases.ts';
export { playStages } from './core/round/play-stages.ts';
export { defineConfig, type RunConfig } from './core/runs/run-config.ts';
export { softmax } from './core/same-exp.ts';
export { runJavaScript } from './core/sandbox/run-javascript.ts';
// The tool `run_javascript`, for agents and for recipes whose episodes have it.
export type { ProgramRun } from './core/sandbox/run-program.ts';
export { type Evaluation, evaluation, type HeldOut } from './core/schema/evaluation.ts';
export { MAIN_SET } from './core/schema/policy.ts';
export type { RoleBinding, RoundSpec, RunSettings } from './core/schema/round.ts';
export type { AdmittedTask, Proposals, RolloutGroup, Sample, ScoredGroup } from './core/schema/sample.ts';
export { passAtK } from './core/statistics/pass-at-k.ts';
export { quantile } from './core/statistics/quantile.ts';
export { tInterval, tQuantile } from './core/statistics/t-interval.ts';
export { canonicalJson } from './core/text/canonical-json.ts';
// Protocols: the shapes of round that recipes share, and single stages to build a shape of one's own.
export {
  type AnswerEvidence,
  type AnswerReward,
  exactReward,
  formatReward,
  majorityReward,
  payAnswers,
  randomReward,
} from './protocols/answer-rewards.ts';
export { GAME_FIGURES } from './protocols/evaluate/games.ts';
export { evaluateSolver, type Solver } from './protocols/evaluate/solver.ts';
export { evaluateVerifier } from './protocols/evaluate/verifier.ts';
export { type Cast, type GameRound, gameRound, ownSeats } from './protocols/game-round.ts';
export { besideOracle, coinOf, sealedGold } from './protocols/gold.ts';
export { paidEarly } from './protocols/reward-first-stage.ts';
export { answer, rollOut, rolloutIds, type WantedAnswers } from './protocols/roll-out.ts';
export { type SampledPrompt, samplePrompts } from './protocols/sample-prompts.ts';
export { type ContextOf, ownContext, scoreInContexts } from './protocols/score-in-other-prompt.ts';
export {
  runningRoleBaselines,
  SEAT_FIGURES,
  type SeatCredit,
  seatFigures,
  seatItems,
  seatUpdates,
} from './protocols/seat-credit.ts';
export {
  creditedItems,
  groupItems,
  rewardNamed,
  SOLVER,
  type SolverGame,
  smallSteps,
  solverAlone,
  solverUpdate,
  trainedSolver,
  withAdvantages,
} from './protocols/solver.ts';
export {
  JUDGE,
  LABELS,
  type Label,
  type Shape,
  type SolverVerifierGame,
  solverAndVerifier,
} from './protocols/solver-verifier.ts';
export {
  slowTeacher,
  surprise,
  type TaughtSample,
  TEACHER_SET,
  teacherPass,
} from './protocols/teacher-pass.ts';
export { verify } from './protocols/verify.ts';
// Task families: generate, render, parse strictly, verify exactly.
export { arithmetic } from './worlds/arithmetic/family.ts';
export { chains } from './worlds/chains/family.ts';
export { composition } from './worlds/composition/family.ts';
export { admitTasks, drawnTasks, familyTasks } from './worlds/drawn-tasks.ts';
export { type Environment, playTurn, type Situation } from './worlds/environment.ts';
export { equations } from './worlds/equations/family.ts';
export { kuhn } from './worlds/games/kuhn.ts';
export { ticTacToe } from './worlds/games/tic-tac-toe.ts';
export { lake } from './worlds/grids/lake.ts';
export { boxPush } from './worlds/grids/push.ts';
export { defineGame, inGame } from './worlds/own-game.ts';
export { defineWorld, inWorld, type Spoken, type World } from './worlds/own-world.ts';
export { programs } from './worlds/programs/family.ts';
export { rewriting } from './worlds/rewriting/family.ts';
