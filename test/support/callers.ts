import type { Caller } from '../../src/core/caller.ts'

/** Somebody with a URL, and nothing else. */
export const STRANGER: Caller = { address: '127.0.0.1', isTrusted: false }

/** Somebody with a secret of the client. */
export const TRUSTED: Caller = { address: '127.0.0.1', isTrusted: true }
