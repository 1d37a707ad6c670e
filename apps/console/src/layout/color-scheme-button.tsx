import { ActionIcon, Menu, Tooltip, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun, type Icon } from '@tabler/icons-react';

const schemes: { scheme: MantineColorScheme; title: string; icon: Icon }[] = [
  { scheme: 'auto', title: 'Same as the system', icon: IconDeviceDesktop },
  { scheme: 'light', title: 'Light', icon: IconSun },
  { scheme: 'dark', title: 'Dark', icon: IconMoon },
];

/** The browser remembers the chosen theme. */
export function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { icon: Current = IconDeviceDesktop } = schemes.find(({ scheme }) => scheme === colorScheme) ?? {};
  return (
    <Menu position="top-end" width={170}>
      <Menu.Target>
        <Tooltip label="Theme">
          <ActionIcon variant="subtle" color="gray" aria-label="Theme">
            <Current size={17} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ scheme, title, icon: Symbol }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Symbol size={15} />}
            aria-current={scheme === colorScheme}
            onClick={() => setColorScheme(scheme)}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
