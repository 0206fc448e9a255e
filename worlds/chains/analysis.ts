/**
 * Proofs that a chain has its sum, and analyses of proofs. A verifier computes each sum again, names the lines that do not follow, and gives a score.
 * A meta-verifier, who judges the analysis, computes the sums, too, marks for each named issue whether it is real, and gives the analysis a score.
 * The sums decide exactly whether an issue is real.
 *
 *     prover         <solve>3+4-9<sep>                         ->  <step>7<step>-3<answer>-3<sep>analysis<eos>   of its own proof
 *     verifier       <judge>7=-3=<sep>3+4-9<sep>               ->  <step>7=<step>-2!-3<sep><bad>2:.5<eos>  line 2 does not follow
 *     meta-verifier  <judge>7=-3=<sep>3+4-9<sep><bad>1:.5<sep> ->  <step>7=<step>-2!-3<sep><bad>:0<eos>  that issue is not real
 *
 * Lines are numbered from 1. A proof without a wrong line scores 1, with one wrong line 0.5, and with more 0. The report of an analysis need not
 * agree with its sums; that is why there is a meta-verifier, which is shown the report alone.
 */
import type { Random } from '../../core/random.ts';
import type { Part } from '../../core/recipe/reading.ts';
import { drawUntil, heldOutTasks } from '../../core/recipe/split.ts';
import {
  invalid,
  ok,
  type ParseResult,
  type Solution,
  type TaskFamily,
} from '../../core/recipe/task-family.ts';
import { randomTask } from '../arithmetic/family.ts';
import { isInteger, parseWorked, STOP, withoutStop, writeSolution } from '../worked.ts';
import { CHECKS_TEXT, chainMarks, chains, parseChecks, STEP_TOKENS, sums, writeChecks } from './family.ts';

/** The score of a proof, or of an analysis. */
export type Score = 0 | 0.5 | 1;

/** What an analysis reports. */
export interface Analysis {
  /** Numbers of the lines that it calls wrong, ascending. */
  readonly issues: readonly number[];
  readonly score: Score;
}

export interface MetaVerdict {
  /** For each issue that the analysis names, whether it is real. */
  readonly marks: readonly boolean[];
  /** The quality of the analysis. */
  readonly score: Score;
}

/** A proof with its author's own analysis of it. */
export interface AnalysedProof {
  readonly solution: Solution;
  readonly analysis: Analysis;
}

/** Operators of a task, and so lines of a proof. */
const LINES = 4;
const HELD_OUT_COUNT = 100;
const CHECKS_TOKENS = 2 * STEP_TOKENS * LINES + 1;
/** Longest analysis and meta-verdict in tokens, stop included. */
export const ANALYSIS_TOKENS = CHECKS_TOKENS + 2 * LINES + 4;
export const META_TOKENS = CHECKS_TOKENS + LINES + 4;
/** Longest proof with its analysis. */
export const PROOF_TOKENS = STEP_TOKENS * (LINES + 1) + 1 + ANALYSIS_TOKENS;

const SCORES = { '0': 0, '.5': 0.5, '1': 1 } as const;
const writeScore = (score: Score): string => (score === 0.5 ? '.5' : String(score));
const scoreNamed = (text: string | undefined): Score => SCORES[text as keyof typeof SCORES];

/** By the exact checker: the numbers of the lines that do not follow, ascending. */
export const wrongLines = (task: string, solution: Solution): number[] =>
  chains.exactJudgment(task, solution).steps.flatMap((follows, i) => (follows ? [] : [i + 1]));

/** The score of a proof with so many wrong lines. */
const scoreOf = (wrong: number): Score => (wrong === 0 ? 1 : wrong === 1 ? 0.5 : 0);

/** The analysis that names exactly these lines. */
export const reportOf = (issues: readonly number[]): Analysis => ({ issues, score: scoreOf(issues.length) });

export const exactAnalysis = (task: string, solution: Solution): Analysis =>
  reportOf(wrongLines(task, solution));

/**
 * The score of an analysis by somebody who finds exactly the lines `wrong` wrong: 1 where every issue that it names is real, 0.5 where some are, and
 * 0 where none is or where its score does not follow from its issues. Issues that it misses do not count here: they lower the reward of its score.
 */
export function metaVerdictOf(wrong: readonly number[], { issues, score }: Analysis): MetaVerdict {
  const marks = issues.map((line) => wrong.includes(line));
  const real = marks.filter(Boolean).length;
  if (score !== scoreOf(issues.length)) return { marks, score: 0 };
  return { marks, score: real === issues.length ? 1 : real > 0 ? 0.5 : 0 };
}

/** The exact score of an analysis. */
export const exactMetaVerdict = (task: string, solution: Solution, analysis: Analysis): MetaVerdict =>
  metaVerdictOf(wrongLines(task, solution), analysis);

/** The sums as they are [steps]. */
export const exactSums = (task: string, solution: Solution): string[] => sums(task, solution).map(String);

const writeReport = ({ issues, score }: Analysis): string =>
  `${issues.map((line) => `<bad>${line}`).join('')}:${writeScore(score)}`;

/** `found`: the sums that it wrote down before [steps]. */
export const writeAnalysis = (solution: Solution, found: readonly string[], analysis: Analysis): string =>
  `${writeChecks(solution, found)}<sep>${writeReport(analysis)}${STOP}`;

export const writeMetaVerdict = (
  solution: Solution,
  found: readonly string[],
  { marks, score }: MetaVerdict,
): string =>
  `${writeChecks(solution, found)}<sep>${marks.map((real) => (real ? '<ok>' : '<bad>')).join('')}:${writeScore(score)}${STOP}`;

export const writeAnalysedProof = (
  solution: Solution,
  found: readonly string[],
  analysis: Analysis,
): string => `${writeSolution(solution)}<sep>${writeAnalysis(solution, found, analysis)}`;

export const metaPrompt = (task: string, solution: Solution, analysis: Analysis): string =>
  `${chains.judgePrompt(task, solution)}${writeReport(analysis)}<sep>`;

const ANALYSIS = new RegExp(`^(${CHECKS_TEXT})<sep>((?:<bad>[1-9])*):(0|\\.5|1)$`);
const META_VERDICT = new RegExp(`^(${CHECKS_TEXT})<sep>((?:<ok>|<bad>)*):(0|\\.5|1)$`);

/** Reasons: off-grammar (a line twice, out of order or that the proof does not have, too), and those of its sums. */
export function parseAnalysis(solution: Solution, text: string): ParseResult<Analysis> {
  const match = ANALYSIS.exec(withoutStop(text) ?? '');
  if (!match) return invalid('off-grammar');
  const checks = parseChecks(solution, match[1]!);
  if (!checks.ok) return checks;
  const issues = match[2]!.split('<bad>').slice(1).map(Number);
  const ascending = issues.every((line, i) => i === 0 || line > issues[i - 1]!);
  if (!ascending || (issues.at(-1) ?? 0) > solution.steps.length) return invalid('off-grammar');
  return ok({ issues, score: scoreNamed(match[3]) });
}

/** Reasons: off-grammar, verdict-count where it does not mark each issue, and those of its sums. */
export function parseMetaVerdict(
  solution: Solution,
  { issues }: Analysis,
  text: string,
): ParseResult<MetaVerdict> {
  const match = META_VERDICT.exec(withoutStop(text) ?? '');
  if (!match) return invalid('off-grammar');
  const checks = parseChecks(solution, match[1]!);
  if (!checks.ok) return checks;
  const marks = [...match[2]!.matchAll(/<(ok|bad)>/g)].map(([, mark]) => mark === 'ok');
  return marks.length === issues.length
    ? ok({ marks, score: scoreNamed(match[3]) })
    : invalid('verdict-count');
}

/** A proof and its author’s analysis, both of which parse; otherwise the reason why one does not. */
export function parseAnalysedProof(task: string, text: string): ParseResult<AnalysedProof> {
  const at = text.indexOf('<sep>');
  if (at < 0) return invalid('off-grammar');
  const solution = chains.parseSolution(task, text.slice(0, at) + STOP);
  if (!solution.ok) return solution;
  const analysis = parseAnalysis(solution.value, text.slice(at + '<sep>'.length));
  return analysis.ok ? ok({ solution: solution.value, analysis: analysis.value }) : analysis;
}

/** Any text of these roles as the page shows it: sums as marks, then `<bad>2:0` as the mark `line 2` and the verdict `score 0`. */
export function analysisParts(text: string): Part[] {
  const parts: Part[] = [];
  for (const part of chainMarks(text)) {
    const [, line, score] = (part.kind === 'text' && /^([1-9])?(?::(0|\.5|1))?$/.exec(part.text)) || [];
    const last = parts.at(-1);
    if (line === undefined && score === undefined) parts.push(part);
    else if (line !== undefined && last?.kind === 'mark')
      parts[parts.length - 1] = { ...last, text: `line ${line}` };
    else if (line !== undefined) parts.push({ kind: 'text', text: line });
    if (score !== undefined) parts.push({ kind: 'verdict', text: `score ${score === '.5' ? '0.5' : score}` });
  }
  return parts;
}

/** A task that is not held out. */
export const freshProofTask = (random: Random): string =>
  drawUntil(
    () => randomTask(random, LINES),
    (task) => !chains.isHeldOut(task),
  );

/** Chains of four operators whose proofs are followed by their authors' analyses. */
export const analysedProofs: TaskFamily = {
  ...chains,
  maxNew: { ...chains.maxNew, solver: PROOF_TOKENS, judge: ANALYSIS_TOKENS },
  random: freshProofTask,
  heldOut: heldOutTasks(
    `${chains.name}, analysed`,
    HELD_OUT_COUNT,
    (random) => randomTask(random, LINES),
    chains.isHeldOut,
  ),
  /** The proof alone; where its analysis does not parse, the proof does not count either. */
  parseSolution: (task, text) => {
    const parsed = parseAnalysedProof(task, text);
    return parsed.ok ? ok(parsed.value.solution) : parsed;
  },
  answerIsExact: (task, solution) => chains.answerIsExact(task, solution),
  exactJudgment: (task, solution) => chains.exactJudgment(task, solution),
};

/** The same chains, as a plain solver and a plain judge write them. */
export const plainProofs: TaskFamily = {
  ...chains,
  random: freshProofTask,
  heldOut: (asked) => analysedProofs.heldOut(asked),
  answerIsExact: (task, solution) => chains.answerIsExact(task, solution),
  exactJudgment: (task, solution) => chains.exactJudgment(task, solution),
};

/** One line or more, not necessarily one for each operator: what a solver can pass with where no gate requires more. */
export const anyLines: TaskFamily = {
  ...plainProofs,
  parseSolution: (_task, text) => {
    const parsed = parseWorked(text, { step: isInteger, answer: isInteger });
    return !parsed.ok || parsed.value.steps.length > 0 ? parsed : invalid('partial-steps');
  },
  answerIsExact: (task, solution) => plainProofs.answerIsExact(task, solution),
  exactJudgment: (task, solution) => plainProofs.exactJudgment(task, solution),
};
