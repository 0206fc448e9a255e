/** Bundlers for Workers give an imported .wasm file as its compiled module. */
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
