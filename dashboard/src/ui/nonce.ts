declare global {
  // The name under which the packages of Radix look for it.
  var __webpack_nonce__: string | undefined
}

/** The nonce of this page: it permits the few `<style>` elements that Radix inserts. Undefined during development. */
export const nonce: string | undefined =
  document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content || undefined

/**
 * Hands the nonce to the packages of Radix. A call: package.json names no file of the console under `sideEffects`, so the bundler
 * drops an import that is not used.
 */
export function applyNonce(): void {
  globalThis.__webpack_nonce__ = nonce
}
