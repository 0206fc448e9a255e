/** The gateway Worker with the recipes that the project ships. */
import { recipes } from '../../recipes/index.ts';
import { gatewayWorker } from './worker.ts';

export default gatewayWorker({ recipes });
