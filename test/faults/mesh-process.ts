/**
 * Runs a local mesh as a process that can be killed. It takes MeshOptions as JSON, prints its addresses, and runs until it is
 * killed or its standard input ends, so that it never outlives the process that started it.
 */
import { type MeshOptions, startMesh } from '../../local/mesh/start.ts';

process.stdin.resume();
process.stdin.once('end', () => process.exit(0));
const { url, pullUrl } = await startMesh(JSON.parse(process.argv[2] ?? '{}') as MeshOptions);
console.log(JSON.stringify({ url, pullUrl }));
