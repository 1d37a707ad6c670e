import { Modal } from '@mantine/core';
import type { ComponentProps } from 'react';
import { ConnectFlow } from './connect-flow.js';

interface ConnectDialogProps extends ComponentProps<typeof ConnectFlow> {
  title: string;
  onClose: () => void;
}

/** Connects a channel or bot. If the dialog closes early, the pending connection stays in the list. */
export function ConnectDialog({ title, onClose, ...flow }: ConnectDialogProps) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <ConnectFlow {...flow} />
    </Modal>
  );
}
