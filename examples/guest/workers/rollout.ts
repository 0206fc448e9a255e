/** The rollout Worker with the recipe of this project: `main` of [env.rollout] in wrangler.toml. */
import { rolloutWorker } from 'rollmesh/workers';
import recipe from '../recipe.ts';

export default rolloutWorker({ recipes: [recipe] });
