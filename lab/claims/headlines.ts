/**
 * The headline of each claim: the comparison that its paper stands on, of those that were registered. They were chosen after the runs, by reading the
 * papers, and no measurement or bound was changed.
 */
import type { Headline } from '../rule/claim.ts';

export const HEADLINES: Readonly<Record<string, Headline>> = {
  aprm: { condition: 0 },
  asl: { condition: 0 },
  azr: { condition: 5 },
  cepo: {
    condition: 3,
    untestable:
      'the told solutions are handed in whole, so that evidence measures copying, and its weights move an advantage by a tenth at most',
  },
  'co-reward': { condition: 1 },
  cosplay: { condition: 2 },
  'cot-monitor': { condition: 0 },
  dapo: { condition: 0 },
  'dsmath-v2': {
    condition: 0,
    untestable:
      'the start writes right proofs greedily and its reports of issues are sound, which leaves nothing for a meta-verifier to mend',
  },
  eva: { condition: 0 },
  evoenv: { condition: 0 },
  evolmm: { condition: 0 },
  'fb-align': { condition: 0 },
  genrm: { condition: 0 },
  igrpo: {
    condition: 1,
    untestable:
      'the start hands a draft in unchanged half of the time, and the cheapest way to a reward is to copy',
  },
  laser: { condition: 1 },
  'llama-rl': { condition: 4 },
  mae: { condition: 2 },
  'mr-rlvr': { condition: 1 },
  'one-shot': { condition: 0 },
  prime: { condition: 2 },
  'q-evolve': { condition: 4 },
  'qg-scst': { condition: 2 },
  'qwen-prm': {
    condition: 0,
    untestable: 'the model finds no first error in any arm, and equal right texts share one score',
  },
  'r-zero': { condition: 5 },
  ragen: { condition: 2 },
  'real-tg': { condition: 1 },
  rewardharness: { condition: 1 },
  rise: { condition: 1 },
  rlp: {
    condition: 1,
    untestable: 'the thoughts of the start say nothing of the text that follows',
  },
  rlsp: { condition: 1 },
  rrpo: { condition: 1 },
  sage: { condition: 2 },
  sar: { condition: 4 },
  scir: {
    condition: 2,
    untestable: 'the loss that pulls the two internal rewards together is left out',
  },
  scma: { condition: 3 },
  'sd-zero': { condition: 3 },
  sdpo: { condition: 2 },
  'self-rewarding': { condition: 1 },
  'self-taught-evaluators': { condition: 0 },
  sipretrain: { condition: 1 },
  spark: { condition: 3 },
  specs: { condition: 0 },
  spin: { condition: 0 },
  spine: { condition: 0 },
  spiral: { condition: 0 },
  sppo: { condition: 0 },
  'srpo-route': { condition: 1 },
  ssp: { condition: 1 },
  'ssr-swe': { condition: 1 },
  'ssr-zero': { condition: 2 },
  stp: { condition: 1 },
  svs: { condition: 0 },
  sws: { condition: 1 },
  't-reg': { condition: 0 },
  tango: { condition: 2 },
  trace: { condition: 0 },
  trio: { condition: 4 },
  'trio-in-composition': { condition: 0 },
  'trio-frontier': { condition: 0 },
  ttcs: { condition: 1 },
  ttrl: { condition: 1 },
  'verifier-training': { condition: 0 },
  'vision-zero': { condition: 0 },
  'weak-sup': { condition: 3 },
  'writing-zero': {
    condition: 1,
    untestable:
      'comparing two scores keeps the bias that was added to each, and the pairwise judge of the paper is not there',
  },
};
