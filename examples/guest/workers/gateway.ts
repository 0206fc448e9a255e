/** The gateway Worker with the recipe of this project: `main` of [env.gateway] in wrangler.toml. */
import { gatewayWorker } from 'rollmesh/workers';
import recipe from '../recipe.ts';

export default gatewayWorker({ recipes: [recipe] });
