// Changes the theme without reloading. Without this file the same button posts the form, and the server sets the cookie.
const order = { auto: "dark", dark: "light", light: "auto" };
document.querySelector("button.theme")?.addEventListener("click", (click) => {
  click.preventDefault();
  const button = click.currentTarget, theme = button.value;
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme};path=/;max-age=31536000;samesite=lax${location.protocol === "https:" ? ";secure" : ""}`;
  button.value = order[theme];
});
