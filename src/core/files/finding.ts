import type { ObjectKey } from './object-key.ts'

/** The differences that a check of bucket and index can find, and their meaning. */
export const FINDINGS = {
  'original not indexed': 'stored with its record, but the index does not know it: reindex takes it in',
  'original without record': 'bytes that no upload has finished, and that the index does not know',
  'derivative not indexed': 'stored, but the index does not know it: reindex takes it in',
  'derivative without original': 'stored, but there is no original of it that is or could be indexed',
  'part without derivative':
    'stored for a derivative that is not there: it goes when that is made again, or with its original',
  'record without original': 'a record, but neither bucket nor index have its original',
  'original missing':
    'the index has it as stored, but the bucket has no bytes: restore them, or delete it; reindex removes it when its record is missing too',
  'record missing': 'the bucket has the bytes, but what is known of them is in the index only',
  'record differs':
    'what the bucket holds as its record is not what the index knows: reindex takes that over',
  'derivative missing':
    'the index has it as stored, but the bucket has no bytes: it is made again when asked for',
  'size differs': 'the bucket holds another number of bytes than the index knows',
  'bytes differ':
    'the SHA-256 of the bytes in the bucket is not that of the upload: restore them from a backup',
  'client unknown':
    'the index has an original of a client that does not exist: client remove <id> --files deletes it',
  failed: 'it could not be looked at or taken in',
} as const

export type FindingKind = keyof typeof FINDINGS

export interface Finding {
  kind: FindingKind
  clientId: string
  key: ObjectKey
  detail?: string
}
