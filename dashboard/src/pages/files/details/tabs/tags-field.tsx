import { X } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Field, Input } from '../../../../ui/forms/field.tsx'
import { DETAILS } from '../texts.ts'

/** A list of tags, and a field that adds one. */
export function TagsField({
  tags,
  onChange,
}: {
  tags: readonly string[]
  onChange: (tags: readonly string[]) => void
}) {
  const [text, setText] = useState('')
  const add = () => {
    const added = text.split(',').flatMap((tag) => tag.trim() || [])
    // Also when the field loses the focus without a tag.
    if (added.length > 0) onChange([...new Set([...tags, ...added])])
    setText('')
  }
  function onKeyDown(event: KeyboardEvent): void {
    if ((event.key === 'Enter' && text.trim() !== '') || event.key === ',') {
      event.preventDefault()
      add()
    } else if (event.key === 'Backspace' && text === '') onChange(tags.slice(0, -1))
  }
  return (
    <div className="flex flex-col gap-2">
      <Field label={DETAILS.tags} hint={DETAILS.tagHint}>
        <Input
          value={text}
          placeholder={DETAILS.addTag}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
      </Field>
      {tags.length > 0 && (
        <ul className="flex flex-wrap gap-1">
          {tags.map((tag) => (
            <li
              key={tag}
              className="inline-flex h-6 max-w-full items-center gap-0.5 rounded-full bg-accent-soft pr-1 pl-2.5 font-medium text-accent-ink text-xs"
            >
              <span className="truncate">{tag}</span>
              <button
                type="button"
                aria-label={DETAILS.removeTag(tag)}
                onClick={() => onChange(tags.filter((other) => other !== tag))}
                className="rounded-full p-0.5 hover:bg-pressed"
              >
                <X aria-hidden="true" className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
