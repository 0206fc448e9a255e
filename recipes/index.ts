/** The recipes that the project ships. */
import type { Recipe } from '../core/recipe/recipe.ts';
import { type Registry, registry } from '../core/recipe/registry.ts';
import { alphaLlm } from './alphallm/recipe.ts';
import { aprm } from './aprm/recipe.ts';
import { asl } from './asl/recipe.ts';
import { azr } from './azr/recipe.ts';
import { cepo } from './cepo/recipe.ts';
import { cleaner } from './cleaner/recipe.ts';
import { coReward } from './co-reward/recipe.ts';
import { comas } from './comas/recipe.ts';
import { cosplay } from './cosplay/recipe.ts';
import { cpl } from './cpl/recipe.ts';
import { dapo } from './dapo/recipe.ts';
import { dsmathV2 } from './dsmath-v2/recipe.ts';
import { epo } from './epo/recipe.ts';
import { eva } from './eva/recipe.ts';
import { evoenv } from './evoenv/recipe.ts';
import { fbAlign } from './fb-align/recipe.ts';
import { genrm } from './genrm/recipe.ts';
import { igrpo } from './igrpo/recipe.ts';
import { jaxmarl } from './jaxmarl/recipe.ts';
import { laser } from './laser/recipe.ts';
import { llamaRl } from './llama-rl/recipe.ts';
import { mae } from './mae/recipe.ts';
import { maporl } from './maporl/recipe.ts';
import { marsGames } from './mars-games/recipe.ts';
import { marsResearch } from './mars-research/recipe.ts';
import { marti } from './marti/recipe.ts';
import { mrRlvr } from './mr-rlvr/recipe.ts';
import { oneShot } from './one-shot/recipe.ts';
import { piPlay } from './pi-play/recipe.ts';
import { prime } from './prime/recipe.ts';
import { qEvolve } from './q-evolve/recipe.ts';
import { qgScst } from './qg-scst/recipe.ts';
import { qwenPrm } from './qwen-prm/recipe.ts';
import { rZero } from './r-zero/recipe.ts';
import { ragen } from './ragen/recipe.ts';
import { realTg } from './real-tg/recipe.ts';
import { reseek } from './reseek/recipe.ts';
import { restMcts } from './rest-mcts/recipe.ts';
import { rewardHarness } from './rewardharness/recipe.ts';
import { rise } from './rise/recipe.ts';
import { rlp } from './rlp/recipe.ts';
import { rlsp } from './rlsp/recipe.ts';
import { rlver } from './rlver/recipe.ts';
import { rrpo } from './rrpo/recipe.ts';
import { sage } from './sage/recipe.ts';
import { sar } from './sar/recipe.ts';
import { scir } from './scir/recipe.ts';
import { scma } from './scma/recipe.ts';
import { sdZero } from './sd-zero/recipe.ts';
import { sdpo } from './sdpo/recipe.ts';
import { selfRewarding } from './self-rewarding/recipe.ts';
import { selfTaughtEvaluators } from './self-taught-evaluators/recipe.ts';
import { siop } from './siop/recipe.ts';
import { sipretrain } from './sipretrain/recipe.ts';
import { spark } from './spark/recipe.ts';
import { specs } from './specs/recipe.ts';
import { spin } from './spin/recipe.ts';
import { spine } from './spine/recipe.ts';
import { spiral } from './spiral/recipe.ts';
import { sppo } from './sppo/recipe.ts';
import { srpoRoute } from './srpo-route/recipe.ts';
import { ssp } from './ssp/recipe.ts';
import { ssrSwe } from './ssr-swe/recipe.ts';
import { ssrZero } from './ssr-zero/recipe.ts';
import { stp } from './stp/recipe.ts';
import { svs } from './svs/recipe.ts';
import { sweetRl } from './sweet-rl/recipe.ts';
import { sws } from './sws/recipe.ts';
import { tReg } from './t-reg/recipe.ts';
import { tango } from './tango/recipe.ts';
import { trace } from './trace/recipe.ts';
import { trio } from './trio/recipe.ts';
import { trioInComposition } from './trio-in-composition/recipe.ts';
import { ttcs } from './ttcs/recipe.ts';
import { ttrl } from './ttrl/recipe.ts';
import { verifierTraining } from './verifier-training/recipe.ts';
import { weakSup } from './weak-sup/recipe.ts';
import { writingZero } from './writing-zero/recipe.ts';

export const recipes: readonly Recipe[] = [
  trioInComposition,
  trio,
  azr,
  rZero,
  ragen,
  spiral,
  marsGames,
  epo,
  jaxmarl,
  ssp,
  selfRewarding,
  sppo,
  spin,
  selfTaughtEvaluators,
  mae,
  dapo,
  oneShot,
  ttrl,
  llamaRl,
  rise,
  tango,
  prime,
  genrm,
  dsmathV2,
  qwenPrm,
  stp,
  ssrSwe,
  evoenv,
  aprm,
  verifierTraining,
  spark,
  coReward,
  sar,
  rlsp,
  scma,
  igrpo,
  sage,
  sdpo,
  trace,
  srpoRoute,
  fbAlign,
  sdZero,
  spine,
  writingZero,
  ssrZero,
  scir,
  specs,
  laser,
  tReg,
  rrpo,
  sipretrain,
  rewardHarness,
  cosplay,
  weakSup,
  cepo,
  svs,
  mrRlvr,
  sws,
  qEvolve,
  realTg,
  rlp,
  qgScst,
  ttcs,
  eva,
  maporl,
  marti,
  comas,
  asl,
  reseek,
  siop,
  piPlay,
  marsResearch,
  cleaner,
  rlver,
  sweetRl,
  restMcts,
  alphaLlm,
  cpl,
];

/** Every recipe of the project, in the form in which Workers, learner and commands take them. */
export const shipped: Registry = registry(recipes);
