import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type FileWithDerivatives, srcset } from '../../../../../../client/index.ts'
import { type ChosenClient, useClient } from '../../../../api/session.ts'
import { Button } from '../../../../ui/button.tsx'
import { CopyButton, CopyField, copyText } from '../../../../ui/copy-button.tsx'
import { formatTime } from '../../../../ui/format.ts'
import { Field } from '../../../../ui/forms/field.tsx'
import { Select } from '../../../../ui/forms/select.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { Notice } from '../../../../ui/states.tsx'
import { isSigned, publicUrls, unsignedUrl } from '../data/delivery.ts'
import { infoQuery } from '../data/file.ts'
import { DETAILS } from '../texts.ts'
import { markdownOf, tagOf } from './snippets.ts'

const WIDTHS = [400, 800, 1200, 1600]
const HOUR = 3600
const LIFETIMES = [
  { value: String(HOUR), label: DETAILS.hour },
  { value: String(24 * HOUR), label: DETAILS.day },
  { value: String(7 * 24 * HOUR), label: DETAILS.week },
  { value: String(30 * 24 * HOUR), label: DETAILS.month },
]

type Width = 'original' | `${number}`

/** The URLs of a file, as texts for pages and documents. */
export function Share({ file }: { file: FileWithDerivatives }) {
  const chosen = useClient()
  const isPicture = file.mimeType === 'image' && file.format !== 'svg'
  const [width, setWidth] = useState<Width>('original')
  const parameters = width === 'original' ? '' : `w=${width}&f=auto`
  const { data: info } = useQuery(infoQuery(chosen, file))
  const widths = WIDTHS.filter((w) => !info?.width || w <= info.width)
  const signed = isSigned(file)
  const { data: urls, error } = useQuery({
    queryKey: [chosen.client.id, 'file', file.s3PathOriginal, 'share', parameters, widths],
    queryFn: ({ signal }) =>
      publicUrls(chosen.sluice, file, [parameters, ...widths.map((w) => `w=${w}&f=auto`)], { signal }),
    // URLs without a signature are formed at once.
    ...(!signed && { initialData: [], staleTime: 0 }),
    enabled: signed,
  })
  const url = signed ? (urls?.[0] ?? '') : parameters ? `${file.src}?${parameters}` : file.src
  const set = signed
    ? widths.map((w, index) => `${urls?.[index + 1] ?? ''} ${w}w`).join(', ')
    : srcset(file, widths)
  const options: Array<{ value: Width; label: string }> = [
    { value: 'original', label: DETAILS.shareOriginal },
    ...WIDTHS.map((w) => ({ value: `${w}` as const, label: DETAILS.shareWidth(w) })),
  ]
  const html = tagOf(file, { url, set: isPicture && widths.length > 0 ? set : undefined, info })
  return (
    <div className="flex flex-col gap-5">
      {isPicture && (
        <Field label={DETAILS.shareSize} {...(width !== 'original' && { hint: DETAILS.shareFormat })}>
          <Select value={width} onChange={setWidth} options={options} />
        </Field>
      )}
      {signed && <Notice tone="accent">{DETAILS.isSigned}</Notice>}
      {error && (
        <Notice tone="danger">
          {DETAILS.urlsFailed}: {error.message}
        </Notice>
      )}
      {url !== '' && (
        <>
          <Snippet label={DETAILS.url} text={url} />
          <Snippet label={DETAILS.html} text={html} />
          <Snippet label={DETAILS.markdown} text={markdownOf(file, url)} />
        </>
      )}
      <SignedLink chosen={chosen} file={file} parameters={parameters} />
    </div>
  )
}

/** A text to copy, shown as a whole. */
function Snippet({ label, text }: { label: string; text: string }) {
  return (
    <section aria-label={label}>
      <div className="mb-1 flex items-center justify-between">
        <h3 className="font-medium text-sm">{label}</h3>
        <CopyButton text={text} label={`Copy ${label}`} size="small" />
      </div>
      <pre className="max-h-40 overflow-y-auto whitespace-pre-wrap break-all rounded-md border border-line bg-sunken p-2.5 font-mono text-xs">
        {text}
      </pre>
    </section>
  )
}

function SignedLink({
  chosen,
  file,
  parameters,
}: {
  chosen: ChosenClient
  file: FileWithDerivatives
  parameters: string
}) {
  const [lifetime, setLifetime] = useState(String(24 * HOUR))
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => {
      const { expiresIn, urls } = { expiresIn: Number(lifetime), urls: chosen.sluice.urls }
      const url = await urls.sign(unsignedUrl(file, parameters), { expiresIn })
      // Not permitted by some browsers after a wait: the link is shown anyway.
      await copyText(url).then(
        () => toast.success(DETAILS.urlCopied),
        () => {},
      )
      return { url, until: Date.now() + 1000 * expiresIn }
    },
  })
  return (
    <section aria-label={DETAILS.signedLink} className="border-line border-t pt-4">
      <h3 className="font-semibold">{DETAILS.signedLink}</h3>
      <p className="mb-3 text-muted text-sm">{DETAILS.signedHint}</p>
      <div className="flex items-end gap-2">
        <Field label={DETAILS.expiresIn} className="flex-1">
          <Select value={lifetime} onChange={setLifetime} options={LIFETIMES} />
        </Field>
        <Button size="medium" className="h-9" isBusy={isPending} onClick={() => mutate()}>
          {DETAILS.createLink}
        </Button>
      </div>
      {data && (
        <div className="mt-3">
          <CopyField value={data.url} label={DETAILS.signedLink} />
          <p className="mt-1 text-muted text-sm">{DETAILS.signedUntil(formatTime(data.until))}</p>
        </div>
      )}
      {error && (
        <div className="mt-3">
          <Notice tone="danger">{error.message}</Notice>
        </div>
      )}
    </section>
  )
}
