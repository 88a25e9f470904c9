export const number = (n: number) => n.toLocaleString("zh-CN");
export const list = (items: string[]) => items.join("、");
