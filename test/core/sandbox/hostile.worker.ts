import { provideQuickJs } from '../../../core/sandbox/quickjs.ts';
import module from '../../../kernels/quickjs.wasm';
import { outcomesOf } from './hostile-outcomes.ts';

export default {
  fetch: () => {
    provideQuickJs(module);
    return Response.json(outcomesOf());
  },
};
