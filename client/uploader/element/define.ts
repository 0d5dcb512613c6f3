import { SluiceUploaderElement } from './element.ts'

const TAG = 'sluice-uploader'

/** Registers `<sluice-uploader>`. Does nothing on a server, or when it is registered. */
export function defineUploader(): void {
  // A page may load this file twice, from two bundles.
  if (globalThis.customElements && !customElements.get(TAG)) customElements.define(TAG, SluiceUploaderElement)
}
