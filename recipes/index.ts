/** The recipes that the project ships, with the start and the sizes of each. What `recipe list` and `recipe show` say, and docs/recipes.md, is made from it. */
import type { Recipe, WithoutSetup } from '../core/recipe/recipe.ts';
import { type Registry, registry } from '../core/recipe/registry.ts';
import { agent0Vl } from './agent0-vl/recipe.ts';
import { alphaGrpo } from './alphagrpo/recipe.ts';
import { alphaLlm } from './alphallm/recipe.ts';
import { aprm } from './aprm/recipe.ts';
import { asl } from './asl/recipe.ts';
import { azr } from './azr/recipe.ts';
import { cepo } from './cepo/recipe.ts';
import { cleaner } from './cleaner/recipe.ts';
import { coReward } from './co-reward/recipe.ts';
import { comas } from './comas/recipe.ts';
import { cosplay } from './cosplay/recipe.ts';
import { cotMonitor } from './cot-monitor/recipe.ts';
import { cpl } from './cpl/recipe.ts';
import { dapo } from './dapo/recipe.ts';
import { delta } from './delta/recipe.ts';
import { dsmathV2 } from './dsmath-v2/recipe.ts';
import { epo } from './epo/recipe.ts';
import { eva } from './eva/recipe.ts';
import { evoenv } from './evoenv/recipe.ts';
import { evolmm } from './evolmm/recipe.ts';
import { fate } from './fate/recipe.ts';
import { fbAlign } from './fb-align/recipe.ts';
import { genEvolve } from './genevolve/recipe.ts';
import { genrm } from './genrm/recipe.ts';
import { gvu } from './gvu/recipe.ts';
import { igrpo } from './igrpo/recipe.ts';
import { infuser } from './infuser/recipe.ts';
import { jaxmarl } from './jaxmarl/recipe.ts';
import { laser } from './laser/recipe.ts';
import { llamaRl } from './llama-rl/recipe.ts';
import { mae } from './mae/recipe.ts';
import { maporl } from './maporl/recipe.ts';
import { marsGames } from './mars-games/recipe.ts';
import { marsResearch } from './mars-research/recipe.ts';
import { marti } from './marti/recipe.ts';
import { mmd } from './mmd/recipe.ts';
import { mrRlvr } from './mr-rlvr/recipe.ts';
import { oneShot } from './one-shot/recipe.ts';
import { piPlay } from './pi-play/recipe.ts';
import { powerSampling } from './power-sampling/recipe.ts';
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
import { rsEot } from './rs-eot/recipe.ts';
import { sage } from './sage/recipe.ts';
import { sar } from './sar/recipe.ts';
import { scVla } from './sc-vla/recipe.ts';
import { scir } from './scir/recipe.ts';
import { scma } from './scma/recipe.ts';
import { scol } from './scol/recipe.ts';
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
import { srpoVla } from './srpo-vla/recipe.ts';
import { ssp } from './ssp/recipe.ts';
import { ssrSwe } from './ssr-swe/recipe.ts';
import { ssrZero } from './ssr-zero/recipe.ts';
import { ste } from './ste/recipe.ts';
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
import { videossr } from './videossr/recipe.ts';
import { visionZero } from './vision-zero/recipe.ts';
import { weakSup } from './weak-sup/recipe.ts';
import { writingZero } from './writing-zero/recipe.ts';

/** [recipe, the policy that it starts from, tasks a round, rollouts a task]. */
const ROWS: readonly (readonly [WithoutSetup, string, number, number])[] = [
  [trioInComposition, 'composition', 24, 8],
  [trio, 'arithmetic-base', 64, 8],
  [azr, 'programs-one-instruction', 48, 8],
  [rZero, 'arithmetic-late-slips', 64, 5],
  [ragen, 'grids', 16, 8],
  [spiral, 'games', 16, 8],
  [mmd, 'games', 64, 8],
  [marsGames, 'games-together', 16, 8],
  [epo, 'games-together', 16, 8],
  [jaxmarl, 'games-together', 16, 8],
  [ssp, 'search-two-hop', 12, 5],
  [selfRewarding, 'arithmetic-judges', 512, 4],
  [sppo, 'style', 128, 5],
  [spin, 'arithmetic-undertrained', 384, 1],
  [selfTaughtEvaluators, 'arithmetic-judges', 120, 4],
  [mae, 'arithmetic-overthinking', 64, 3],
  [dapo, 'arithmetic-verbose', 64, 8],
  [oneShot, 'arithmetic-base', 32, 8],
  [ttrl, 'arithmetic-terse', 24, 32],
  [llamaRl, 'arithmetic-base', 48, 8],
  [rise, 'arithmetic-step-slips', 32, 8],
  [tango, 'arithmetic-chains', 48, 5],
  [prime, 'arithmetic-chains', 128, 4],
  [genrm, 'arithmetic-judges', 64, 8],
  [dsmathV2, 'arithmetic-analyses', 32, 8],
  [qwenPrm, 'arithmetic-chains', 16, 8],
  [stp, 'rewriting', 96, 8],
  [ssrSwe, 'programs-repair', 32, 8],
  [evoenv, 'programs-environments', 16, 8],
  [aprm, 'arithmetic-chains', 16, 4],
  [verifierTraining, 'arithmetic-chains', 16, 4],
  [spark, 'arithmetic-chains', 16, 8],
  [coReward, 'arithmetic-terse', 16, 32],
  [sar, 'arithmetic-verbose', 32, 8],
  [rlsp, 'arithmetic-checking', 24, 8],
  [scma, 'arithmetic-rambling', 16, 8],
  [igrpo, 'arithmetic-aided', 32, 8],
  [sage, 'arithmetic-aided', 32, 8],
  [sdpo, 'arithmetic-aided', 32, 8],
  [trace, 'arithmetic-aided', 32, 8],
  [srpoRoute, 'arithmetic-aided', 32, 8],
  [fbAlign, 'arithmetic-aided', 32, 8],
  [sdZero, 'arithmetic-revising', 32, 8],
  [spine, 'arithmetic-terse', 32, 8],
  [writingZero, 'style', 64, 5],
  [ssrZero, 'cipher', 24, 8],
  [scir, 'style', 128, 2],
  [specs, 'arithmetic-verbose', 32, 8],
  [laser, 'arithmetic-step-slips', 32, 8],
  [tReg, 'style-contrasts', 128, 5],
  [rrpo, 'style', 128, 2],
  [sipretrain, 'documents', 64, 4],
  [rewardHarness, 'style-rules', 24, 5],
  [cosplay, 'programs-statements', 50, 8],
  [weakSup, 'arithmetic-two-forms', 24, 8],
  [cepo, 'arithmetic-aided', 32, 8],
  [svs, 'arithmetic-variations', 16, 8],
  [mrRlvr, 'arithmetic-puzzles', 16, 8],
  [sws, 'arithmetic-aided', 32, 8],
  [qEvolve, 'grids', 8, 8],
  [srpoVla, 'grids-seen', 16, 8],
  [scVla, 'grids-seen', 16, 8],
  [realTg, 'temporal-graphs', 32, 8],
  [rlp, 'documents-sums', 32, 8],
  [qgScst, 'documents-questions', 32, 8],
  [ttcs, 'arithmetic-variants', 30, 12],
  [eva, 'style', 96, 5],
  [maporl, 'arithmetic-aided', 16, 8],
  [marti, 'arithmetic-aided', 16, 4],
  [comas, 'arithmetic-aided', 16, 4],
  [asl, 'arithmetic-base', 32, 8],
  [reseek, 'search-two-hop', 16, 8],
  [siop, 'search-two-hop', 16, 8],
  [piPlay, 'search-stumbling', 16, 8],
  [marsResearch, 'search-two-hop', 16, 8],
  [cleaner, 'search-two-hop', 16, 8],
  [cotMonitor, 'arithmetic-reports', 32, 8],
  [fate, 'search-guarded', 16, 8],
  [rlver, 'arithmetic-aided', 16, 8],
  [sweetRl, 'arithmetic-aided', 16, 8],
  [restMcts, 'composition', 16, 8],
  [alphaLlm, 'composition', 16, 8],
  [cpl, 'composition', 16, 8],
  [powerSampling, 'composition', 16, 8],
  [evolmm, 'canvas-speaking', 24, 5],
  [visionZero, 'canvas-speaking', 16, 4],
  [gvu, 'canvas-speaking', 24, 8],
  [alphaGrpo, 'canvas-speaking', 24, 8],
  [videossr, 'canvas-watching', 24, 8],
  [delta, 'arithmetic-verbose', 32, 8],
  [infuser, 'arithmetic-late-slips', 32, 8],
  [scol, 'documents-layers', 12, 8],
  [genEvolve, 'canvas-requests', 24, 8],
  [ste, 'canvas-erasing', 24, 8],
  [rsEot, 'canvas-looking', 16, 8],
  [agent0Vl, 'canvas-looking', 16, 8],
];

export const recipes: readonly Recipe[] = ROWS.map(([recipe, startPolicy, tasks, groupSize]) => ({
  ...recipe,
  startPolicy,
  tasks,
  groupSize,
}));

/** Every recipe of the project, in the form in which Workers, learner and commands take them. */
export const shipped: Registry = registry(recipes);
