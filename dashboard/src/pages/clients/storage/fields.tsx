import type { ClientStorage, StorageSettings } from '../../../../../client/index.ts'
import { paramOf } from '../../../api/param-of.ts'
import { CLIENT_PARTS } from '../../../texts/clients.ts'
import { Checkbox } from '../../../ui/forms/choices.tsx'
import { Field, Input } from '../../../ui/forms/field.tsx'

const TEXT_FIELDS = ['bucket', 'endpoint', 'region', 'prefix', 'publicUrl', 'accessKeyId'] as const
const REQUIRED: readonly string[] = ['bucket', 'accessKeyId']

type TextField = (typeof TEXT_FIELDS)[number]

/** The contents of the fields. */
export type Bucket = Record<TextField | 'secretAccessKey', string> & { forcePathStyle: boolean }

export const EMPTY_BUCKET: Bucket = {
  bucket: '',
  endpoint: '',
  region: '',
  prefix: '',
  accessKeyId: '',
  publicUrl: '',
  secretAccessKey: '',
  forcePathStyle: false,
}

/** The fields for the bucket of a client. The service never returns the secret access key. */
export function bucketOf({ publicUrl = '', ...stored }: ClientStorage): Bucket {
  return { ...EMPTY_BUCKET, ...stored, publicUrl }
}

/** The settings in the fields. Empty ones are left out. */
export function settingsOf({ bucket, accessKeyId, secretAccessKey, ...optional }: Bucket): StorageSettings {
  const { forcePathStyle, ...texts } = optional
  const given = Object.entries(texts).filter(([, value]) => value.trim() !== '')
  return {
    bucket: bucket.trim(),
    accessKeyId: accessKeyId.trim(),
    secretAccessKey,
    forcePathStyle,
    ...Object.fromEntries(given.map(([name, value]) => [name, value.trim()])),
  }
}

/** The field that an error of the service is about: `storage.bucket` and `bucket` are the same. */
export function fieldOf(error: unknown): string | undefined {
  const name = paramOf(error)?.replace(/^storage\./, '')
  return name !== undefined && name in EMPTY_BUCKET ? name : undefined
}

/** The fields of a bucket. */
export function BucketFields({
  value,
  onChange,
  errorAt,
  isStored = false,
}: {
  value: Bucket
  onChange: (value: Bucket) => void
  /** The error of the service that a field must show. */
  errorAt: (field: string) => string | undefined
  /** Whether the service has a secret access key, which it does not show. */
  isStored?: boolean
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {TEXT_FIELDS.map((name) => (
        <Field
          key={name}
          label={CLIENT_PARTS.fields[name]}
          hint={CLIENT_PARTS.hints[name]}
          error={errorAt(name)}
          optional={!REQUIRED.includes(name)}
        >
          <Input
            autoComplete="off"
            spellCheck={false}
            value={value[name]}
            onChange={(event) => onChange({ ...value, [name]: event.target.value })}
          />
        </Field>
      ))}
      <Field
        label={CLIENT_PARTS.fields.secretAccessKey}
        hint={isStored && CLIENT_PARTS.secretHint}
        error={errorAt('secretAccessKey')}
      >
        <Input
          type="password"
          autoComplete="new-password"
          value={value.secretAccessKey}
          onChange={(event) => onChange({ ...value, secretAccessKey: event.target.value })}
        />
      </Field>
      <div className="sm:col-span-2">
        <Checkbox
          label={CLIENT_PARTS.fields.forcePathStyle}
          checked={value.forcePathStyle}
          onChange={(forcePathStyle) => onChange({ ...value, forcePathStyle })}
        />
      </div>
    </div>
  )
}
