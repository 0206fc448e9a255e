/** The claims of the shipped recipes, by their names: the recipe's, or another one where a recipe has several. */
import { recipes } from 'rollmesh/recipes';
import { type Claim, type ClaimedRegistry, claimedRegistry } from '../rule/claim.ts';
import { claim as agent0Vl } from './agent0-vl.ts';
import { claim as alphagrpo } from './alphagrpo.ts';
import { claim as aprm } from './aprm.ts';
import { claim as asl } from './asl.ts';
import { claim as azr } from './azr.ts';
import { claim as cepo } from './cepo.ts';
import { claim as cleaner } from './cleaner.ts';
import { claim as coReward } from './co-reward.ts';
import { claim as comas } from './comas.ts';
import { claim as cosplay } from './cosplay.ts';
import { claim as cotMonitor } from './cot-monitor.ts';
import { claim as dapo } from './dapo.ts';
import { claim as dsmathV2 } from './dsmath-v2.ts';
import { claim as epo } from './epo.ts';
import { claim as eva } from './eva.ts';
import { claim as evoenv } from './evoenv.ts';
import { claim as evolmm } from './evolmm.ts';
import { claim as fate } from './fate.ts';
import { claim as fbAlign } from './fb-align.ts';
import { claim as genevolve } from './genevolve.ts';
import { claim as genrm } from './genrm.ts';
import { claim as gvu } from './gvu.ts';
import { HEADLINES } from './headlines.ts';
import { claim as igrpo } from './igrpo.ts';
import { claim as jaxmarl } from './jaxmarl.ts';
import { claim as laser } from './laser.ts';
import { claim as llamaRl } from './llama-rl.ts';
import { claim as mae } from './mae.ts';
import { claim as maporl } from './maporl.ts';
import { claim as marsGames } from './mars-games.ts';
import { claim as marsResearch } from './mars-research.ts';
import { claim as marti } from './marti.ts';
import { claim as mmd } from './mmd.ts';
import { claim as mrRlvr } from './mr-rlvr.ts';
import { claim as oneShot } from './one-shot.ts';
import { claim as piPlay } from './pi-play.ts';
import { claim as prime } from './prime.ts';
import { claim as qEvolve } from './q-evolve.ts';
import { claim as qgScst } from './qg-scst.ts';
import { claim as qwenPrm } from './qwen-prm.ts';
import { claim as rZero } from './r-zero.ts';
import { claim as ragen } from './ragen.ts';
import { claim as realTg } from './real-tg.ts';
import { claim as reseek } from './reseek.ts';
import { claim as rewardharness } from './rewardharness.ts';
import { claim as rise } from './rise.ts';
import { claim as rlp } from './rlp.ts';
import { claim as rlsp } from './rlsp.ts';
import { claim as rlver } from './rlver.ts';
import { claim as rrpo } from './rrpo.ts';
import { claim as rsEot } from './rs-eot.ts';
import { claim as sage } from './sage.ts';
import { claim as sar } from './sar.ts';
import { claim as scVla } from './sc-vla.ts';
import { claim as scir } from './scir.ts';
import { claim as scma } from './scma.ts';
import { claim as sdZero } from './sd-zero.ts';
import { claim as sdpo } from './sdpo.ts';
import { claim as selfRewarding } from './self-rewarding.ts';
import { claim as selfTaughtEvaluators } from './self-taught-evaluators.ts';
import { claim as siop } from './siop.ts';
import { claim as sipretrain } from './sipretrain.ts';
import { claim as spark } from './spark.ts';
import { claim as specs } from './specs.ts';
import { claim as spin } from './spin.ts';
import { claim as spine } from './spine.ts';
import { claim as spiral } from './spiral.ts';
import { claim as sppo } from './sppo.ts';
import { claim as srpoRoute } from './srpo-route.ts';
import { claim as srpoVla } from './srpo-vla.ts';
import { claim as ssp } from './ssp.ts';
import { claim as ssrSwe } from './ssr-swe.ts';
import { claim as ssrZero } from './ssr-zero.ts';
import { claim as ste } from './ste.ts';
import { claim as stp } from './stp.ts';
import { claim as svs } from './svs.ts';
import { claim as sweetRl } from './sweet-rl.ts';
import { claim as sws } from './sws.ts';
import { claim as tReg } from './t-reg.ts';
import { claim as tango } from './tango.ts';
import { claim as trace } from './trace.ts';
import { claim as trio } from './trio.ts';
import { claim as trioFrontier } from './trio-frontier.ts';
import { claim as trioInComposition } from './trio-in-composition.ts';
import { claim as ttcs } from './ttcs.ts';
import { claim as ttrl } from './ttrl.ts';
import { claim as verifierTraining } from './verifier-training.ts';
import { claim as videossr } from './videossr.ts';
import { claim as visionZero } from './vision-zero.ts';
import { claim as weakSup } from './weak-sup.ts';
import { claim as writingZero } from './writing-zero.ts';

const CLAIMS: Readonly<Record<string, Claim>> = {
  'agent0-vl': agent0Vl,
  alphagrpo,
  aprm,
  asl,
  azr,
  cepo,
  cleaner,
  'co-reward': coReward,
  comas,
  cosplay,
  'cot-monitor': cotMonitor,
  dapo,
  'dsmath-v2': dsmathV2,
  epo,
  eva,
  evoenv,
  evolmm,
  fate,
  'fb-align': fbAlign,
  genevolve,
  genrm,
  gvu,
  igrpo,
  jaxmarl,
  laser,
  'llama-rl': llamaRl,
  mae,
  maporl,
  'mars-games': marsGames,
  'mars-research': marsResearch,
  marti,
  mmd,
  'mr-rlvr': mrRlvr,
  'one-shot': oneShot,
  'pi-play': piPlay,
  prime,
  'q-evolve': qEvolve,
  'qg-scst': qgScst,
  'qwen-prm': qwenPrm,
  'r-zero': rZero,
  ragen,
  'real-tg': realTg,
  reseek,
  rewardharness,
  rise,
  rlp,
  rlsp,
  rlver,
  rrpo,
  'rs-eot': rsEot,
  sage,
  sar,
  'sc-vla': scVla,
  scir,
  scma,
  'sd-zero': sdZero,
  sdpo,
  'self-rewarding': selfRewarding,
  'self-taught-evaluators': selfTaughtEvaluators,
  siop,
  sipretrain,
  spark,
  specs,
  spin,
  spine,
  spiral,
  sppo,
  'srpo-route': srpoRoute,
  'srpo-vla': srpoVla,
  ssp,
  'ssr-swe': ssrSwe,
  'ssr-zero': ssrZero,
  ste,
  stp,
  svs,
  'sweet-rl': sweetRl,
  sws,
  't-reg': tReg,
  tango,
  trace,
  trio,
  // The page of the recipe of both tells them in this order.
  'trio-in-composition': trioInComposition,
  'trio-frontier': trioFrontier,
  ttcs,
  ttrl,
  'verifier-training': verifierTraining,
  videossr,
  'vision-zero': visionZero,
  'weak-sup': weakSup,
  'writing-zero': writingZero,
};

/** The recipes of which something is claimed, in the order in which the package lists them. */
export const claimed: ClaimedRegistry = claimedRegistry(
  recipes.flatMap((recipe) =>
    Object.entries(CLAIMS)
      .filter(([name, claim]) => (claim.recipe ?? name) === recipe.name)
      .map(([name, claim]) => {
        const headline = HEADLINES[name];
        return { ...recipe, name, claim: { ...claim, ...(headline ? { headline } : {}) } };
      }),
  ),
);
