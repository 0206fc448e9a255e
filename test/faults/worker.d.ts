/** The Worker whose bindings are wrapped in faults; local/mesh/bundle.ts resolves this name to it. */
declare module 'rollmesh:worker' {
  const worker: ExportedHandler<Record<string, unknown>>;
  export default worker;
}
