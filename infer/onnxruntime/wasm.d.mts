export * from 'onnxruntime-common';
