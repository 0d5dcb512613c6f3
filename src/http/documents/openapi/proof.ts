import type { Action } from '../../../core/clients/secret-scope.ts'
import type { DocumentedAccess } from '../endpoint.ts'
import type { JsonSchema } from '../json-schema.ts'

/** What a request has to prove, as the document states it. */
interface Proof {
  /** Security Requirement Objects, of which one suffices. */
  security: readonly JsonSchema[]
  /** For the description of an operation. */
  sentence: string
}

const PROOFS: Readonly<Record<Extract<DocumentedAccess, string>, Proof>> = {
  admin: {
    security: [{ admin: [] }, { session: [] }],
    sentence: 'Needs the token of the operator, or the session of an owner of the console.',
  },
  session: { security: [{ session: [] }], sentence: 'Needs a session of the console.' },
  metrics: { security: [{ metrics: [] }], sentence: 'Needs the token of the metrics.' },
  signature: {
    security: [{}, { signature: [] }],
    sentence: 'Needs no secret. When the client requires it, the URL must be signed.',
  },
  'signature or cookie': {
    security: [{}, { signature: [] }, { folder: [] }],
    sentence:
      'Needs no secret. When the client requires it, the URL must be signed, or a signed cookie must open the folder.',
  },
  link: { security: [], sentence: 'Needs no secret: the signature in the URL authorizes the request.' },
  public: { security: [], sentence: 'Needs no secret.' },
}

/** The secrets whose scope does not include an action. */
const REFUSED: Readonly<Record<Action, string>> = {
  upload: 'for reading only',
  read: 'for uploads only',
  manage: 'for uploads only or for reading only',
}

/** What the document states about an access. */
export function proofOf(access: DocumentedAccess): Proof {
  if (typeof access === 'string') return PROOFS[access]
  if ('operatorOrSecret' in access) {
    const refused = `Secrets ${REFUSED[access.operatorOrSecret]}, or of a folder, are refused.`
    return {
      security: [{ admin: [] }, { secret: [] }, { session: [] }],
      sentence: `Needs the token of the operator, the secret of a client, or a session of the console. ${refused}`,
    }
  }
  const refused = `Secrets ${REFUSED[access.secret]}${access.everywhere ? ', or of a folder,' : ''} are refused.`
  return {
    security: [{ secret: [] }, { session: [] }],
    sentence: `Needs the secret of a client, or a session of the console. ${refused}`,
  }
}
