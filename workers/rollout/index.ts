/** The rollout Worker with the recipes that the project ships. */
import { recipes } from '../../recipes/index.ts';
import { rolloutWorker } from './worker.ts';

export default rolloutWorker({ recipes });
