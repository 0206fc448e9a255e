/** The proposer Worker with the recipes that the project ships. */
import { recipes } from '../../recipes/index.ts';
import { proposerWorker } from './worker.ts';

export default proposerWorker({ recipes });
