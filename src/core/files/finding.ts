/** The differences that a check of bucket and index can find, and their meaning. */
export const FINDINGS = {
  'original not indexed': 'stored with its record, but not in the index; reindex adds it',
  'original without record': 'bytes of an unfinished upload, not in the index',
  'derivative not indexed': 'stored, but not in the index; reindex adds it',
  'derivative without original': 'stored, but its original is neither in the index nor can be added to it',
  'part without derivative':
    'stored for a derivative that does not exist; deleted when the derivative is rendered again, or with its original',
  'record without original': 'a record, but its original is in neither the bucket nor the index',
  'original missing':
    'stored according to the index, but its bytes are not in the bucket: restore them from a backup or delete the file; reindex removes it when its record is missing too',
  'record missing': 'the bytes are in the bucket, but the record is only in the index',
  'record differs': 'the record in the bucket differs from the index; reindex copies it into the index',
  'derivative missing':
    'stored according to the index, but its bytes are not in the bucket; rendered again when requested',
  'size differs': 'the size in the bucket differs from the index',
  'bytes differ':
    'the SHA-256 of the bytes in the bucket differs from the upload: restore them from a backup',
  'folder count differs':
    'the counters of the folder do not agree with the files of the index; reindex counts them again',
  'search incomplete': 'the file is missing in the search by name and tag; reindex adds it',
  'alias without original':
    'the alias has an original that is not stored: deliveries return 404 until the alias is set to another file',
  'alias damaged': 'the record of the alias cannot be read: restore it from a backup or delete the alias',
  'client unknown':
    'the index has an original of a client that does not exist; delete it with client remove <id> --files',
  failed: 'could not be read or added',
} as const

export type FindingKind = keyof typeof FINDINGS

export interface Finding {
  kind: FindingKind
  clientId: string
  /** The key of an object, or a folder: `/` is the top. */
  key: string
  detail?: string
}
