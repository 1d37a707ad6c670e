import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

interface CopyButtonProps {
  text: string;
  label?: string;
  size?: keyof typeof iconSizes;
  className?: string | undefined;
}

const iconSizes = { sm: 16, xs: 14, 'compact-xs': 13 };
const copiedMs = 1_000;

/** Copies a text to the clipboard. */
export function CopyButton({ text, label = 'Copy', size = 'xs', className }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) setIsCopied(true);
    else
      notifications.show({
        color: 'red',
        title: 'Not copied',
        message: 'The browser refused it. Select the text and copy it yourself.',
      });
  };
  const Icon = isCopied ? IconCheck : IconCopy;
  return (
    <Button
      className={className}
      size={size}
      variant="default"
      leftSection={<Icon size={iconSizes[size]} />}
      onClick={() => void copy()}
    >
      {isCopied ? 'Copied' : label}
    </Button>
  );
}

/** Returns false when the browser refuses. */
async function copyText(text: string): Promise<boolean> {
  // Browsers offer the clipboard only on https and on localhost.
  if (!('clipboard' in navigator)) return copySelected(text);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  document.body.append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way to copy on an http address
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
