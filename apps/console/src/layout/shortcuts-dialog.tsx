import { Group, Kbd, Modal, Stack, Text } from '@mantine/core';
import { useActiveShortcuts } from '../kit/shortcuts.js';

interface ShortcutsDialogProps {
  isOpen: boolean;
  onClose: () => void;
}

export function ShortcutsDialog({ isOpen, onClose }: ShortcutsDialogProps) {
  const shortcuts = useActiveShortcuts();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap={8}>
        {shortcuts.map(({ keys, title }) => (
          <Group key={keys} justify="space-between" wrap="nowrap">
            <Text size="sm">{title}</Text>
            <Group gap={4}>
              {keys.split(' ').map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
