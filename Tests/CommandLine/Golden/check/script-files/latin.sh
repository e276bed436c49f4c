true
echo "Ã¼" café
