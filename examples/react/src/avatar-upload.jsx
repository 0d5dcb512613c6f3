import { SluiceImage, useUpload } from 'sluice/react'

/** Chooses one image, and shows it. */
export function AvatarUpload() {
  const { items, isOver, sentBytes, totalBytes, dropProps, inputProps } = useUpload({
    linkUrl: '/upload-link',
    accept: 'image/*',
    maxBytes: 5_000_000,
    multiple: false,
    resumeScope: 'avatar',
  })
  const [item] = items
  return (
    <label className={isOver ? 'avatar over' : 'avatar'} {...dropProps}>
      <input {...inputProps} />
      {item?.record && <SluiceImage src={item.record} alt="Your picture" width={96} height={96} />}
      {item?.status === 'uploading' && <progress value={sentBytes} max={totalBytes} aria-label="Upload" />}
      {item?.error && <p role="alert">{item.error.message}</p>}
    </label>
  )
}
