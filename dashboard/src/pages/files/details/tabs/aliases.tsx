import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient, useMay } from '../../../../api/session.ts'
import { Button } from '../../../../ui/button.tsx'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../../ui/skeleton.tsx'
import { EmptyState, ErrorState, Notice } from '../../../../ui/states.tsx'
import { aliasesQuery, SEARCHED_MAX } from '../data/aliases.ts'
import { DETAILS } from '../texts.ts'
import { AliasItem } from './alias-item.tsx'

/** The aliases that deliver a file: set, restore an earlier version, delete. */
export function Aliases({ file }: { file: FileWithDerivatives }) {
  const chosen = useClient()
  const queryClient = useQueryClient()
  const mayEdit = useMay('editor')
  const [name, setName] = useState('')
  const query = aliasesQuery(chosen)
  const { data, error, refetch } = useQuery(query)
  // An alias remains visible after its file was changed here.
  const [shown, setShown] = useState<readonly string[]>([])
  const set = useMutation({
    mutationFn: () => chosen.sluice.aliases.set(name.trim(), file),
    async onSuccess(alias) {
      setName('')
      toast.success(DETAILS.aliasIsSet(alias.name))
      await queryClient.invalidateQueries({ queryKey: query.queryKey })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set.mutate()
  }
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <SkeletonRows rows={2} />
  const own = data.filter((alias) => alias.file === file.s3PathOriginal || shown.includes(alias.name))
  return (
    <div className="flex flex-col gap-4">
      {data.length >= SEARCHED_MAX && <Notice>{DETAILS.aliasesCut}</Notice>}
      {own.length === 0 ? (
        <EmptyState icon={<Link2 />} title={DETAILS.noAliases} className="py-8">
          {DETAILS.noAliasesHint}
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {own.map((alias) => (
            <AliasItem
              key={alias.name}
              alias={alias}
              file={file}
              mayEdit={mayEdit}
              onChange={() => {
                setShown((names) => [...names, alias.name])
                void queryClient.invalidateQueries({ queryKey: query.queryKey })
              }}
            />
          ))}
        </ul>
      )}
      {mayEdit && (
        <form onSubmit={submit} className="flex items-start gap-2">
          <Field
            label={DETAILS.aliasName}
            hint={DETAILS.aliasNameHint}
            error={set.error?.message}
            className="flex-1"
          >
            <Input value={name} required onChange={({ target }) => setName(target.value)} />
          </Field>
          <Button type="submit" className="mt-6.5 h-9" isBusy={set.isPending}>
            {DETAILS.aliasSet}
          </Button>
        </form>
      )}
    </div>
  )
}
