/** The judge Worker with the recipes that the project ships. */
import { recipes } from '../../recipes/index.ts';
import { judgeWorker } from './worker.ts';

export default judgeWorker({ recipes });
