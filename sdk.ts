/**
 * `rollmesh`: what a recipe is written with. Everything here is pure and may be part of a Worker. The Workers themselves are in
 * `rollmesh/workers`, tensors and losses in `rollmesh/learner`, help for tests in `rollmesh/testing`, the shipped recipes in
 * `rollmesh/recipes`.
 *
 *     import { arithmetic, defineRecipe, exactReward, groupItems, grpo, solverAlone, solverUpdate, trainedSolver } from 'rollmesh';
 */
import type { Recipe } from './core/recipe.ts';

/** The recipe itself: it only lets the editor and `tsc` name a field that is missing, unknown or of another kind. */
export const defineRecipe = (recipe: Recipe): Recipe => recipe;

// The contract: what a recipe is, what its functions are given, and what they return.
export { checkRecipe } from './core/check-recipe.ts';
export { type FailureKind, kindOf, RollmeshError, wrongInput } from './core/errors.ts';
export { type Phase, phaseAt, type Schedule } from './core/phases.ts';
export type {
  Completion,
  GeneratePrompt,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from './core/policy.ts';
export { deriveId, Random } from './core/random.ts';
export type { Method, Paper, Recipe, RoundShape } from './core/recipe.ts';
export { readState, type StateSchema } from './core/recipe-state.ts';
export { type Registry, registry } from './core/registry.ts';
// Estimators, rewards, selection and corrections: functions on arrays.
export * from './core/rl/adaptive-kl.ts';
export * from './core/rl/aggregation.ts';
export * from './core/rl/area-under-roc.ts';
export * from './core/rl/average-linkage.ts';
export * from './core/rl/balanced-pick.ts';
export * from './core/rl/class-balanced.ts';
export * from './core/rl/conventions.ts';
export * from './core/rl/ema-baseline.ts';
export * from './core/rl/exploitability.ts';
export * from './core/rl/gae.ts';
export * from './core/rl/group-centred.ts';
export * from './core/rl/group-filter.ts';
export * from './core/rl/groups.ts';
export * from './core/rl/grpo.ts';
export * from './core/rl/hierarchical-grpo.ts';
export * from './core/rl/history-shaping.ts';
export * from './core/rl/implicit-process.ts';
export * from './core/rl/importance.ts';
export * from './core/rl/kl.ts';
export * from './core/rl/leave-one-out.ts';
export * from './core/rl/maxrl.ts';
export * from './core/rl/mean-centred.ts';
export * from './core/rl/mismatch.ts';
export * from './core/rl/objective.ts';
export * from './core/rl/off-policy-mask.ts';
export * from './core/rl/overlong.ts';
export * from './core/rl/preference-pairs.ts';
export * from './core/rl/process-grpo.ts';
export * from './core/rl/proposer-rewards.ts';
export * from './core/rl/rank-correlation.ts';
export * from './core/rl/raw.ts';
export * from './core/rl/reinforce-plus-plus.ts';
export * from './core/rl/returns.ts';
export * from './core/rl/rloo.ts';
export * from './core/rl/staleness.ts';
export * from './core/rl/statistics.ts';
export * from './core/rl/streams.ts';
export * from './core/rl/task-relative.ts';
export * from './core/rl/types.ts';
export * from './core/rl/votes.ts';
export type { Placement, RewardInfo, RoleSettings } from './core/role.ts';
// Protocols: the shapes of round that recipes share, and the single stages for a shape of one's own.
export {
  type AnswerEvidence,
  type AnswerReward,
  exactReward,
  formatReward,
  majorityReward,
  payAnswers,
  randomReward,
} from './core/roles/answer-rewards.ts';
export { admitTasks, drawnTasks } from './core/roles/drawn-tasks.ts';
export {
  type Answered,
  type Beginning,
  episodesOf,
  type Played,
  type PlaySettings,
  playEpisodes,
} from './core/roles/episodes.ts';
export { besideTruth, coinOf, sealedGold } from './core/roles/gold.ts';
export { playStages } from './core/roles/play-stages.ts';
export { solve } from './core/roles/solve.ts';
export { examineSolver, type Solver } from './core/roles/solver-exam.ts';
export {
  advantaged,
  familyTasks,
  groupItems,
  rewardNamed,
  SOLVER,
  type SolverGame,
  smallSteps,
  solverAlone,
  solverUpdate,
  trainedSolver,
} from './core/roles/solver-recipe.ts';
export {
  JUDGE,
  LABELS,
  type Label,
  type Shape,
  type SolverVerifierGame,
  solverAndVerifier,
} from './core/roles/solver-verifier.ts';
export { type Exam, refOf, type Stage, sampleOf, samplingOf } from './core/roles/stage.ts';
export { examineVerifier } from './core/roles/verifier-exam.ts';
export { verify } from './core/roles/verify.ts';
export { type Evaluation, evaluation, type HeldOut } from './core/schema/evaluation.ts';
export { MAIN_SET } from './core/schema/policy.ts';
export type { RoleBinding, RoundSpec, RunSettings } from './core/schema/round.ts';
export type { AdmittedTask, Proposals, RolledGroup, Sample, ScoredGroup } from './core/schema/sample.ts';
// Task families: generate, render, parse strictly, verify exactly.
export { arithmetic } from './core/tasks/arithmetic.ts';
export { chains } from './core/tasks/chains.ts';
export { type Environment, playTurn, type Situation } from './core/tasks/environment.ts';
export { equations } from './core/tasks/equations.ts';
export {
  type Judgment,
  type Reading,
  read,
  refuse,
  type Solution,
  type TaskFamily,
} from './core/tasks/family.ts';
export { kuhn } from './core/tasks/games/kuhn.ts';
export { ticTacToe } from './core/tasks/games/tic-tac-toe.ts';
export { lake } from './core/tasks/grids/lake.ts';
export { boxPush } from './core/tasks/grids/push.ts';
export { programs } from './core/tasks/programs/family.ts';
export { rewriting } from './core/tasks/rewriting/prover.ts';
export { drawUntil, heldOutTasks, isHeldOutKey } from './core/tasks/split.ts';
export type * from './core/training.ts';
