// Changes the theme without reloading. Without this file the same button posts the form, and the server sets the cookie.
const order = { auto: "dark", dark: "light", light: "auto" };
document.addEventListener("click", (click) => {
  const button = click.target.closest("button.theme"), theme = button?.value;
  if (!button) return;
  click.preventDefault();
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme};path=/;max-age=31536000;samesite=lax${location.protocol === "https:" ? ";secure" : ""}`;
  for (const one of document.querySelectorAll("button.theme")) one.value = order[theme];
});
