/** The judge Worker with the recipe of this project: `main` of [env.judge] in wrangler.toml. */
import { judgeWorker } from 'rollmesh/workers';
import recipe from '../recipe.ts';

export default judgeWorker({ recipes: [recipe] });
