import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FaultNotice } from './fault-notice.js';

interface ConfirmDialogProps {
  title: string;
  /** Names what the action deletes or changes. */
  children: ReactNode;
  /** The verb on the button. */
  action: string;
  /** Runs the action. The dialog stays open until the action succeeds. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks the user to confirm a destructive action. Cancel has the focus. */
export function ConfirmDialog({ title, children, action, onConfirm, onClose }: ConfirmDialogProps) {
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
      role="alertdialog"
      // The title names only the dialog inside the element with this role.
      aria-label={title}
    >
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {confirm.error && <FaultNotice error={confirm.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.8" onClick={() => confirm.mutate()} loading={confirm.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
