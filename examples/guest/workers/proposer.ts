/** The proposer Worker with the recipe of this project: `main` of [env.proposer] in wrangler.toml. */
import { proposerWorker } from 'rollmesh/workers';
import recipe from '../recipe.ts';

export default proposerWorker({ recipes: [recipe] });
