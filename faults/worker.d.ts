/** The Worker around which faults are laid; mesh/bundle.ts puts it in. */
declare module 'rollmesh:worker' {
  const worker: ExportedHandler<Record<string, unknown>>;
  export default worker;
}
