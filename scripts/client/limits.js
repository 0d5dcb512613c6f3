import { constantOf } from '../readme/constants.js'

// What a client has to know before it sends a request: [name, constant of the service, its file in `src`, description].
const LIMITS = [
  ['SIDE_MAX', 'SIDE_MAX', 'core/geometry/output-limit.ts', 'The largest side of a derivative, in pixels.'],
  ['SIGNED_URLS_MAX', 'URLS_MAX', 'http/signing/url-schemas.ts', 'The most URLs that one request signs.'],
  [
    'BATCH_PATHS_MAX',
    'PATHS_MAX',
    'http/files/batch.ts',
    'The most files that one request deletes or restores.',
  ],
  ['COPIES_MAX', 'FILES_MAX', 'http/moves/endpoints.ts', 'The most files that one request copies or moves.'],
  ['ARCHIVE_FILES_MAX', 'MAX_ITEMS', 'http/archive/request.ts', 'The most files of an archive.'],
  [
    'COOKIE_MAX_SECONDS',
    'COOKIE_MAX_SECONDS',
    'core/signing/signed-folder.ts',
    'The longest lifetime of a signed cookie.',
  ],
  [
    'FOLDER_MAX_BYTES',
    'FOLDER_MAX_BYTES',
    'core/files/object-key.ts',
    'The longest path of a folder, in bytes of UTF-8.',
  ],
  [
    'FILE_NAME_MAX_BYTES',
    'NAME_MAX_BYTES',
    'core/files/file-name.ts',
    'The longest name of a file, in bytes of UTF-8.',
  ],
  ['TAG_MAX_BYTES', 'TAG_MAX_BYTES', 'core/files/annotations.ts', 'The longest tag, in bytes of UTF-8.'],
  [
    'MEMBER_NAME_MAX_LENGTH',
    'NAME_MAX_LENGTH',
    'core/members/member.ts',
    'The longest name of a member or a passkey, in characters.',
  ],
  [
    'PASSWORD_MIN_LENGTH',
    'PASSWORD_MIN_LENGTH',
    'http/console/fields.ts',
    'The shortest new password, in characters.',
  ],
  [
    'PASSWORD_MAX_LENGTH',
    'PASSWORD_MAX_LENGTH',
    'http/console/fields.ts',
    'The longest password, in characters.',
  ],
  [
    'USAGE_DAYS_MAX',
    'USAGE_RETENTION_DAYS',
    'core/ports/usage.ts',
    'The days for which usage is stored. A report has at most as many.',
  ],
  [
    'USAGE_ROWS_MAX',
    'ROWS_MAX',
    'http/usage/endpoints.ts',
    'The most days of a report, counted for each client.',
  ],
]

/** The limits of the service as constants, so that the client library and the console copy none by hand. */
export function limitConstants() {
  return LIMITS.map(
    ([name, constant, file, description]) =>
      `/** ${description} */\nexport const ${name} = ${grouped(constantOf(file, constant))}\n`,
  ).join('\n')
}

/** `604_800`. */
function grouped(value) {
  return value < 10_000 ? String(value) : value.toLocaleString('en').replaceAll(',', '_')
}
